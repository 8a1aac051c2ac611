import type { PlatformEvent } from '#contract/platform/events.ts';

/** An event in the log. */
export interface LoggedEvent {
  /** Its place in the log: the time at which it was added, ISO 8601, followed by its index in the batch and its id. */
  readonly position: string;
  readonly event: PlatformEvent;
}

/** Events of the last {@link EVENT_LOG_DAYS} days. An event that is delivered again is in the log again. */
export interface EventLog {
  append(events: readonly PlatformEvent[]): Promise<void>;
  /** Events after a position, or from a time on, in the order in which they were added. Throws DATA005. */
  after(position: string, limit: number): Promise<readonly LoggedEvent[]>;
}
