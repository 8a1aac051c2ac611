import type { PlatformEvent } from '#contract/platform/events.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { selects } from '#contract/values/event-types.ts';
import type { Caller, Ownership } from '../access/access.ts';
import type { Clock } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { EventLog } from './event-log.ts';
import { maySeeEvents } from './visible-events.ts';

export interface EventFeedDeps {
  readonly events: Pick<EventLog, 'after'>;
  readonly ownership: Ownership;
  readonly clock: Clock;
}

/** Functions add events at their own clocks' times: events of this last time are read again, ms. */
const OVERLAP_MS = 10_000;
/** Events of one pass. More are read in the next pass. */
const EVENTS_AT_ONCE = 500;
/** Age of the oldest position from which events are read. */
const MAX_AGE_MS = DAY_MS;

/** Events that a caller can see, from pass to pass. */
export class EventFeed {
  readonly #deps: EventFeedDeps;
  readonly #caller: Caller;
  readonly #selection: string;
  /** Position after which the next pass reads. */
  #after: string;
  /** Positions that were read, as far as the next pass reads them again. */
  #seen = new Set<string>();

  /**
   * @param selection types of events, as the contract's EVENT_SELECTION allows
   * @param since Unix ms; undefined: events from now on
   */
  constructor(deps: EventFeedDeps, caller: Caller, selection: string, since: number | undefined) {
    const now = deps.clock.now();
    this.#deps = deps;
    this.#caller = caller;
    this.#selection = selection;
    this.#after = isoTime(Math.max(since ?? now, now - MAX_AGE_MS));
  }

  /** Time from which a stream that continues reads, Unix ms. */
  get since(): number {
    return Date.parse(this.#after.split('#')[0]!);
  }

  /** Events that were added since the last pass. Throws DATA005, SVC005. */
  async next(): Promise<readonly PlatformEvent[]> {
    const now = this.#deps.clock.now();
    const rows = await this.#deps.events.after(this.#after, EVENTS_AT_ONCE);
    const unseen = rows.filter(({ position }) => !this.#seen.has(position));
    if (rows.length === EVENTS_AT_ONCE) {
      this.#after = rows.at(-1)!.position;
      this.#seen.clear();
    } else {
      const overlap = isoTime(now - OVERLAP_MS);
      if (overlap > this.#after) this.#after = overlap;
      this.#seen = new Set(rows.map(({ position }) => position).filter((position) => position > this.#after));
    }
    const visible: PlatformEvent[] = [];
    for (const { event } of unseen) if (await this.#isVisible(event)) visible.push(event);
    return visible;
  }

  async #isVisible({ type, subject }: PlatformEvent): Promise<boolean> {
    return selects(this.#selection, type) && maySeeEvents(this.#deps.ownership, this.#caller, subject);
  }
}
