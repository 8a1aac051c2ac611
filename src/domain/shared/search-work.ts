import { CodedError } from '#contract/values/errors.ts';
import { throwIfStopped } from './request-stop.ts';

/** Compared characters after which other requests have their turn: some ms. */
const TURN = 1_000_000;
/** Compared characters of one search: half a second of processor time, on an idle core. */
const MAX = 100_000_000;
/** Compared characters of one row, within which no other request has its turn. */
const MAX_OF_ROW = 10_000_000;

/** Work of one search, in compared characters. A long search gives other requests their turn, and ends at a limit. */
export class SearchWork {
  readonly #field: string;
  #done = 0;
  #turn = 0;

  /** @param field parameter that determines the work, for the error */
  constructor(field: string) {
    this.#field = field;
  }

  /** @throws CodedError VAL005 beyond the limit of a row */
  add(characters: number): void {
    this.#done += characters;
    if (this.#done - this.#turn > MAX_OF_ROW) throw this.#tooMuch();
  }

  /**
   * Call it after each row. Undefined while the search may continue at once.
   *
   * @throws CodedError VAL005 beyond the limit, and as {@link throwIfStopped}
   */
  turn(): Promise<void> | undefined {
    if (this.#done > MAX) throw this.#tooMuch();
    if (this.#done - this.#turn < TURN) return undefined;
    this.#turn = this.#done;
    return new Promise<void>((resolve) => setImmediate(resolve)).then(throwIfStopped);
  }

  #tooMuch(): CodedError {
    return new CodedError('VAL005', {
      message: `${this.#field} compares too much text: make it shorter, or search fewer items by the other filters`,
      field: this.#field,
      context: { max_compared_characters: MAX },
    });
  }
}

/** Searches that may run or wait for their turn. */
const MAX_SEARCHES = 16;

let last: Promise<unknown> = Promise.resolve();
let searches = 0;

/**
 * Runs searches one after the other: each reads thousands of rows, and several at once would take the time of all other requests.
 *
 * @throws CodedError DATA005 while too many run and wait
 */
export async function afterOtherSearches<T>(search: () => Promise<T>): Promise<T> {
  if (searches >= MAX_SEARCHES) {
    throw new CodedError('DATA005', {
      message: `${MAX_SEARCHES} searches run or wait for their turn: try again in some seconds`,
    });
  }
  searches++;
  const found = last.then(() => {
    throwIfStopped();
    return search();
  });
  last = found.then(
    () => searches--,
    () => searches--,
  );
  return found;
}
