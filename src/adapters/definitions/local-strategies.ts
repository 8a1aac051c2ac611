import { readFileSync, realpathSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { GIVEN_SIGNALS, knownBuiltIns, sortedByName } from '#adapters/strategies/known-strategies.ts';
import { MAX_SOURCE_BYTES } from '#adapters/strategies/source-formats.ts';
import {
  digestSources,
  type Source,
  strategyDigests,
  USER_STRATEGIES,
} from '#adapters/strategies/strategy-files.ts';
import type { BrokenStrategyFile } from '#contract/config/strategy.ts';
import type { KnownStrategy, Strategies, StrategyList } from '#domain/config/strategy-ports.ts';
import { strippedSources } from '../processes/stripped-file.ts';
import {
  DefinitionProcess,
  DefinitionProcessError,
  type Limits,
  ProcessPool,
  Slots,
} from './definition-process.ts';
import { lookAtFolder } from './strategy-folder.ts';
import { StrategySource } from './strategy-source.ts';
import { stripStrategies } from './stripped-sources.ts';

export interface LocalStrategiesOptions extends Partial<Limits> {
  /** Folder of the users' strategy files; it may be absent. Default: the project's `strategies/`. */
  readonly folder?: string | undefined;
  /** Folder of Node's compile cache. Sources without types are stored next to it for the tasks; absent: they are not stored. */
  readonly compiled?: string | undefined;
  /** Called once for each version of a file that cannot be used. */
  readonly onBroken?: (file: BrokenStrategyFile) => void;
}

/** Loading takes 0.1 s; the limit covers a busy machine. */
const LOAD_LIMIT_MS = 5_000;
const STARTUP_LIMIT_MS = 1_000;
/** Delay before a file is read again after a time-out or a failed process start; it doubles with each attempt. */
const RETRY_MS = 60_000;

interface Failed {
  readonly error: string;
  readonly line: number | null;
  /** Name of the strategy that the file defined before, or that its source seems to define. */
  readonly strategy: string | null;
  /** Unix ms; absent: the file is read again only after it changes. */
  readonly retryAt?: number;
}

/** One version of one strategy file. */
interface Version {
  readonly file: string;
  readonly digest: string;
  /** Strategy that the file defined before this version. */
  readonly formerName: string | null;
  /** Undefined until the file was read. */
  outcome: KnownStrategy | Failed | undefined;
  reading: Promise<void>;
  attempts: number;
  source: StrategySource | undefined;
}

const NO_FILE = 'it is not a file';
const TOO_LARGE = `it is larger than ${MAX_SOURCE_BYTES / 1024 / 1024} MiB. Move its data into a JSON file that it imports`;
const LINK =
  'it is a link, and links can lead out of the strategy folder, so no file is used while the folder contains one. Replace the link with a copy of the file or folder';

/** Reasons not to read a file, in place of its digest. */
const REASONS: readonly string[] = [NO_FILE, TOO_LARGE, LINK];

/**
 * Strategies of local mode: the built-in ones, and the definitions of a folder as data. No code of the folder runs in this
 * process: a sandboxed process per file reads the definition and computes startup candles.
 * Each call compares names, sizes and times of the files with the last look. It waits until the changed files that it needs
 * were read.
 */
export class LocalStrategies implements Strategies {
  readonly #folder: string;
  readonly #compiled: string | undefined;
  readonly #onBroken: (file: BrokenStrategyFile) => void;
  readonly #pool: ProcessPool;
  readonly #readings = new Slots(Math.max(2, availableParallelism()));
  readonly #builtIns = new Map(knownBuiltIns().map((each) => [each.definition.name, each]));
  /** Sorted by file name. */
  #versions: readonly Version[] = [];
  #signature = '';
  #isUncertain = false;
  #folderError: string | undefined;
  #look: Promise<void> = Promise.resolve();
  #nextLook: Promise<void> | undefined;
  #isClosed = false;

  constructor({
    folder = USER_STRATEGIES,
    compiled,
    onBroken = () => {},
    loadLimitMs = LOAD_LIMIT_MS,
    startupLimitMs = STARTUP_LIMIT_MS,
  }: LocalStrategiesOptions = {}) {
    this.#folder = folder;
    this.#compiled = compiled;
    this.#onBroken = onBroken;
    this.#pool = new ProcessPool({ loadLimitMs, startupLimitMs });
  }

  async find(name: string): Promise<KnownStrategy | undefined> {
    const builtIn = name === GIVEN_SIGNALS.definition.name ? GIVEN_SIGNALS : this.#builtIns.get(name);
    if (builtIn) return builtIn;
    const versions = await this.#current();
    // Other files may take as long as the limit.
    const likely = versions.filter(
      ({ file, formerName, outcome }) => (formerName ?? (outcome ? null : this.#declaredName(file))) === name,
    );
    for (const version of likely) this.#readings.prefer(version);
    await Promise.all(likely.map(({ reading }) => reading));
    const found = () => this.#divide(versions).known.find(({ definition }) => definition.name === name);
    const already = found();
    if (already) return already;
    await Promise.all(versions.map(({ reading }) => reading));
    return found();
  }

  async list(): Promise<StrategyList> {
    const versions = await this.#current();
    await Promise.all(versions.map(({ reading }) => reading));
    const { known, broken } = this.#divide(versions);
    return { strategies: sortedByName([...this.#builtIns.values(), ...known]), broken };
  }

  /** Names of the strategies by file: as loaded, or as the source of a file that cannot be loaded seems to say; null: unknown. */
  async names(): Promise<ReadonlyMap<string, string | null>> {
    const versions = await this.#current();
    await Promise.all(versions.map(({ reading }) => reading));
    return new Map(versions.map((version) => [version.file, nameOf(version)]));
  }

  /** Ends all processes. */
  close(): void {
    this.#isClosed = true;
    this.#pool.close();
  }

  /** Usable and broken files among those that were read. When two files define one name, the first by file name is used. */
  #divide(versions: readonly Version[]): { known: KnownStrategy[]; broken: BrokenStrategyFile[] } {
    const known = new Map<string, { file: string; strategy: KnownStrategy }>();
    const broken: BrokenStrategyFile[] = this.#folderError
      ? [{ file: '.', line: null, error: this.#folderError, strategy: null }]
      : [];
    for (const { file, outcome } of versions) {
      if (!outcome) continue;
      if ('error' in outcome) {
        const { line, error, strategy } = outcome;
        broken.push({ file, line, error, strategy });
        continue;
      }
      const { name } = outcome.definition;
      const other = this.#builtIns.has(name) ? 'a built-in strategy' : known.get(name)?.file;
      if (other) {
        const error = `${other} has the name ${name} already; give this strategy another name`;
        broken.push({ file, line: this.#lineOf(file, /\bname\s*:/), error, strategy: null });
      } else {
        known.set(name, { file, strategy: outcome });
      }
    }
    return { known: [...known.values()].map(({ strategy }) => strategy), broken };
  }

  #lineOf(file: string, pattern: RegExp): number | null {
    const index = this.#textOf(file)
      .split('\n')
      .findIndex((line) => pattern.test(line));
    return index < 0 ? null : index + 1;
  }

  #textOf(file: string): string {
    try {
      return readFileSync(join(this.#folder, file), 'utf8');
    } catch {
      return '';
    }
  }

  /** Current versions of the files. Calls share a look only if the look starts after the call. */
  async #current(): Promise<readonly Version[]> {
    this.#nextLook ??= this.#look.then(() => {
      this.#nextLook = undefined;
      this.#look = this.#lookAgain();
      return this.#look;
    });
    await this.#nextLook;
    return this.#versions;
  }

  async #lookAgain(): Promise<void> {
    try {
      const now = Date.now();
      const look = await lookAtFolder(this.#folder, now);
      if (look.signature !== this.#signature || this.#isUncertain) {
        // The sandbox grants read access by path, and a link would lead out of the folder.
        const isClosed = look.links.length > 0;
        const sources = isClosed ? new Map<string, Source>() : await digestSources(this.#folder);
        if (!isClosed) this.#stripTypes(sources);
        const rejected = isClosed
          ? reasons(look.links, LINK)
          : [...reasons(look.notFiles, NO_FILE), ...reasons(look.tooLarge, TOO_LARGE)];
        this.#update(new Map([...strategyDigests(sources), ...rejected]));
      }
      this.#signature = look.signature;
      this.#isUncertain = look.isRecent;
      this.#folderError = undefined;
      for (const version of this.#versions) this.#retry(version, now);
    } catch (error) {
      // The versions that were read before stay in use.
      this.#folderError = `the folder cannot be read: ${(error as Error).message}`;
    }
  }

  /** Runs in the background: a task that starts earlier removes the types itself. */
  #stripTypes(sources: ReadonlyMap<string, Source>): void {
    if (!this.#compiled) return;
    stripStrategies(this.#folder, strippedSources(this.#compiled), sources).catch(() => undefined);
  }

  /** @param digests of the files, or {@link REASONS} */
  #update(digests: ReadonlyMap<string, string>): void {
    const former = new Map(this.#versions.map((version) => [version.file, version]));
    this.#versions = [...digests]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([file, digest]) => {
        const before = former.get(file);
        if (before?.digest !== digest) return this.#newVersion(file, digest, nameOf(before));
        former.delete(file);
        return before;
      });
    for (const { source } of former.values()) source?.close();
  }

  #newVersion(file: string, digest: string, formerName: string | null): Version {
    const reading = Promise.resolve();
    const version: Version = {
      file,
      digest,
      formerName,
      reading,
      outcome: undefined,
      attempts: 0,
      source: undefined,
    };
    version.reading = this.#read(version);
    return version;
  }

  /** Runs in the background; the previous outcome stays until it ends. */
  #retry(version: Version, now: number): void {
    const { outcome } = version;
    if (!outcome || !('error' in outcome) || !outcome.retryAt || outcome.retryAt > now) return;
    version.outcome = { ...outcome, retryAt: Number.POSITIVE_INFINITY };
    void this.#read(version);
  }

  async #read(version: Version): Promise<void> {
    const outcome = REASONS.includes(version.digest)
      ? { error: version.digest, line: null, strategy: null }
      : await this.#readings.run(() => this.#outcomeOf(version), version);
    const isFirst = version.attempts++ === 0;
    version.outcome = outcome;
    if ('error' in outcome && isFirst && !this.#isClosed) {
      const { line, error, strategy } = outcome;
      this.#onBroken({ file: version.file, line, error, strategy });
    }
  }

  async #outcomeOf(version: Version): Promise<KnownStrategy | Failed> {
    const { file, digest } = version;
    const failed = (error: string, line: number | null, retryAt?: number): Failed => ({
      error,
      line,
      strategy: version.formerName ?? this.#declaredName(file),
      ...(retryAt !== undefined && { retryAt }),
    });
    const source = new StrategySource(
      this.#pool,
      () => new DefinitionProcess(realpathSync(this.#folder), file),
    );
    try {
      const loaded = await source.load();
      if ('error' in loaded) return failed(loaded.error, loaded.line);
      version.source = source;
      return {
        definition: loaded.definition,
        digest,
        defaultStartup: loaded.startup,
        startupCandles: (params) => source.startupCandles(params),
      };
    } catch (error) {
      const retryAt = Date.now() + RETRY_MS * 2 ** Math.min(version.attempts, 10);
      return failed(this.#describe(error), this.#lineOf(file, /\bprocess\s*\.\s*exit\b/), retryAt);
    }
  }

  #describe(error: unknown): string {
    if (!(error instanceof DefinitionProcessError)) {
      return `the process that read it sent an invalid reply: ${(error as Error).message}`;
    }
    const { kind, message } = error;
    if (kind === 'time') {
      const seconds = this.#pool.limits.loadLimitMs / 1000;
      return `it was still loading after ${seconds} s. Remove endless loops and waiting from the top level and from startupCandles`;
    }
    if (kind === 'ended') {
      return `loading did not finish: ${message}. Remove process.exit and an await that never resolves`;
    }
    return `it could not be read: ${message}`;
  }

  #declaredName(file: string): string | null {
    return /\bname\s*:\s*(['"`])([a-z][a-z0-9_]{0,63})\1/.exec(this.#textOf(file))?.[2] ?? null;
  }
}

const reasons = (files: readonly string[], reason: string) => files.map((file) => [file, reason] as const);

/** Name of the strategy that a version defines, or seems to define. */
function nameOf(version: Version | undefined): string | null {
  const outcome = version?.outcome;
  if (!version || !outcome) return version?.formerName ?? null;
  return 'error' in outcome ? outcome.strategy : outcome.definition.name;
}
