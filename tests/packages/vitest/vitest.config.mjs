import {defineConfig} from 'vitest/config';

export default defineConfig({test: {setupFiles: ['tensorledger/vitest'], include: ['*.test.ts'], execArgv: ['--expose-gc']}});
