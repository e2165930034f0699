// What js/testing takes of the test runners, so that it can be checked without them.

declare module 'vitest' {
  export const expect: {extend(matchers: object): void};
  export function beforeEach(hook: (context: {onTestFinished(hook: () => Promise<void>): void}) => void): void;
}

declare module '@jest/globals' {
  export const expect: {extend(matchers: object): void};
  export function beforeEach(hook: () => void): void;
  export function afterEach(hook: () => Promise<void>): void;
}
