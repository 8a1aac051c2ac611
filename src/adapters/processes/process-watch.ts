import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { listNames } from '#contract/values/list-names.ts';
import { CALLBACK_NAMES } from '#engine/strategy.ts';
import { forLines } from './read-lines.ts';
import { MARK_BYTES, MARKED_BYTES, type ProgressReport } from './report-progress.ts';

export interface WatchOptions {
  /** Time without progress after which `onStall` is called, and again after each further such time, ms. */
  readonly stallMs: number;
  /** Called when progress stops, and with null when it resumes. */
  readonly onStall: (text: string | null) => void;
  /** Called with each activity that starts. */
  readonly onEnter?: (what: string) => void;
}

/** Tracks the progress reports of a process, see report-progress.ts. */
export class ProcessWatch {
  readonly #options: WatchOptions;
  readonly #pid: number;
  readonly #mark: Buffer;
  #what = '';
  #pairs: readonly string[] = [];
  #ended = false;
  #last = Date.now();
  #timer: NodeJS.Timeout | undefined;
  #stalled = false;
  #closed = false;

  /** @param mark hex, the mark in the environment of the process */
  constructor(pid: number, mark: string, progress: Readable, options: WatchOptions) {
    this.#pid = pid;
    this.#mark = Buffer.from(mark, 'hex');
    this.#options = options;
    forLines(progress, (line) => this.#hear(line));
    this.#wait();
  }

  /** True if the process may have been running strategy code last. */
  get inStrategy(): boolean {
    return this.#what !== '' && !this.#ended;
  }

  /**
   * Current activity of the process, such as "customExit of ETH/USDT:USDT". Exact on Linux while it runs, otherwise the
   * activity that it started last.
   */
  where(): string {
    if (this.#what === '') return 'its start';
    const [callback, pair] = this.#ended ? [0, 0] : this.#lastCallback();
    const name = CALLBACK_NAMES[callback - 1];
    const pairs = name && name !== 'loopStart' ? this.#pairs.slice(pair, pair + 1) : this.#pairs;
    return [
      name ?? this.#what,
      ...(pairs.length > 0 ? [listNames(pairs, { shown: MAX_PAIRS_LISTED })] : []),
    ].join(' of ');
  }

  /** "no progress for 60 s in …"; empty if there was progress within the last second. */
  silence(): string {
    const seconds = Math.round((Date.now() - this.#last) / 1000);
    return seconds < 1 ? '' : `no progress for ${seconds} s in ${this.where()}`;
  }

  /** Calls `onStall` no more: from the kill of a process on, {@link where} would be wrong. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #wait(): void {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#stalled = true;
      this.#options.onStall(this.silence());
      this.#wait();
    }, this.#options.stallMs);
    this.#timer.unref();
  }

  /** Reports are untrusted, like the strategy: only these shapes are accepted. */
  #hear(line: string): void {
    const report = parsed(line);
    if (!report) return;
    if ('what' in report) {
      this.#ended = false;
      this.#what = report.what;
      this.#pairs = report.pairs;
      this.#options.onEnter?.(report.what);
    }
    if ('ended' in report) this.#ended = true;
    this.#last = Date.now();
    if (this.#stalled && !this.#closed) this.#options.onStall(null);
    this.#stalled = false;
    this.#wait();
  }

  /** Numbers of callback and pair in the memory of the process; zeros if it cannot be read. */
  #lastCallback(): readonly [callback: number, pair: number] {
    try {
      const found = Buffer.alloc(MARK_BYTES + 4);
      const memory = openSync(`/proc/${this.#pid}/mem`, 'r');
      try {
        for (const address of writable(this.#pid, MARKED_BYTES)) {
          readSync(memory, found, 0, found.length, address);
          if (found.subarray(0, MARK_BYTES).equals(this.#mark)) {
            return [found.readUInt16LE(MARK_BYTES), found.readUInt16LE(MARK_BYTES + 2)];
          }
        }
      } finally {
        closeSync(memory);
      }
    } catch {
      // The system has no /proc, or the process has ended.
    }
    return [0, 0];
  }
}

/** Start addresses of the writable mappings of a process with exactly this size. */
function writable(pid: number, bytes: number): bigint[] {
  return readFileSync(`/proc/${pid}/maps`, 'utf8')
    .split('\n')
    .filter((line) => /^[0-9a-f]+-[0-9a-f]+ rw/.test(line))
    .map((line) =>
      line
        .slice(0, line.indexOf(' '))
        .split('-')
        .map((part) => BigInt(`0x${part}`)),
    )
    .filter(([from, to]) => to! - from! === BigInt(bytes))
    .map(([from]) => from!);
}

/** "30 minutes", "1.5 seconds". */
export function inWords(ms: number): string {
  const [count, unit] = ms >= 60_000 ? [ms / 60_000, 'minute'] : [ms / 1_000, 'second'];
  return `${Number(count.toFixed(1))} ${unit}${count === 1 ? '' : 's'}`;
}

const MAX_PAIRS_LISTED = 3;
const MAX_CHARACTERS = 100;

function parsed(line: string): ProgressReport | undefined {
  try {
    const report: unknown = JSON.parse(line);
    if (typeof report !== 'object' || report === null) return undefined;
    if ('alive' in report) return { alive: true };
    if ('ended' in report) return { ended: true };
    if (
      !(
        'what' in report &&
        typeof report.what === 'string' &&
        'pairs' in report &&
        Array.isArray(report.pairs)
      )
    ) {
      return undefined;
    }
    const pairs = report.pairs.filter((pair) => typeof pair === 'string').map((pair) => plain(pair));
    return { what: plain(report.what), pairs };
  } catch {
    return undefined;
  }
}

const plain = (text: string) => text.slice(0, MAX_CHARACTERS).replaceAll(/[^\x20-\x7e]/g, '?');
