// What the page is given: py/tensorledger/report/data.py. What a body has not is not there.

/** `[file, verdict, seconds, body]` */
export type WrittenRun = [number, string, number, number];
/** `[scenario, target, runs, shown]` */
export type WrittenCell = [number, number, WrittenRun[], number];
export type Quantity = 'tensors' | 'bytes' | 'buffers' | 'buffer_bytes';

export interface Checkpoint {
  name: string;
  tensors?: number;
  bytes?: number;
  buffers?: number;
  buffer_bytes?: number;
  backend?: Record<string, number>;
  expected?: Partial<Record<Quantity, number>>;
}

export interface Failure {
  type: string;
  message: string;
  checkpoint?: string;
  stack?: string[];
}

export interface Place {
  of?: string;
  stack?: string[];
  line?: string;
  tensors: {said: string; held?: string[]}[];
}

export interface Body {
  language: string;
  recipe?: string;
  reason?: string;
  deviation?: string;
  cycles: number;
  checkpoints?: Checkpoint[];
  first?: Checkpoint[];
  growth?: Record<string, number>;
  levels?: Record<string, number[]>;
  fits?: Record<string, {rate: number; error?: number}>;
  confidence?: Record<string, number>;
  error?: Failure;
  thrown?: Failure;
  leaks?: Place[];
  problems?: string[];
  parity?: {said: string; ok: boolean}[];
  retained?: Record<string, string>;
  log?: string;
}

export interface File {
  file: string;
  tensorledger?: string;
  node?: string;
  python?: string;
  platform?: string;
  date?: string;
  targets?: Record<string, Record<string, string>>;
}

export interface Change {
  scenario: string;
  target: string;
  kind: string;
  said: string;
}

export interface Crossing {
  said: string;
  works: boolean;
  bad: boolean;
}

export interface RecipeTable {
  model: string;
  language: string;
  usage: string;
  recipes: string[];
  lines: {label: string; cells: Record<string, Crossing>; best: string}[];
}

export type Point = [name: string, tensors: number | null, bytes: number | null, buffers: number | null, buffer_bytes: number | null];

export interface Walk {
  points?: Point[];
  threw?: {type: string; message: string; after?: string};
}

export interface Range {
  first: string;
  last: string;
  count: number;
  verdict?: string;
  shows: {cycle?: Walk; first?: Walk; unsteady?: boolean; parity?: Record<string, boolean>; broke?: string};
}

export interface Atlas {
  place: number;
  backend: string;
  environment?: Record<string, string>;
  releases?: string[];
  recipes?: {first: string; last: string; name: string}[];
  unusable?: {release: string; state: string; why: string}[];
  scenarios?: Record<string, Range[]>;
}

export interface Check {
  model: string;
  kind: string;
  keras?: string;
  formats?: string[];
  parity?: {
    target: string;
    format: string;
    max_abs?: number;
    max_rel?: number;
    ok: boolean;
    reason?: string;
    error?: string;
    outputs?: {inputs: string; output: string; max_abs?: number; max_rel?: number; bound: number; ok: boolean}[];
  }[];
  refused?: {format: string; reason: string; instead?: string}[];
  recipes?: {target: string; format: string; usage: string; recipe?: string}[];
  notes?: string[];
  left_out?: string[];
  error?: string;
}

export interface Data {
  version: string;
  marks: Record<string, string>;
  units: Record<string, Record<string, string>>;
  files: File[];
  problems: string[];
  scenarios: string[];
  targets: string[];
  cells: WrittenCell[];
  bodies: Body[];
  checks: Check[];
  recipes: RecipeTable[];
  legend: string;
  reasons: string[];
  atlases: Atlas[];
  changes?: Change[];
}
