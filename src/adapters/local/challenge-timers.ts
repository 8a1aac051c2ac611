import type { ChallengeTimer } from '#domain/challenges/process-due-challenges.ts';
import type { Clock } from '#domain/ports.ts';

/** Maximum delay of a Node timer, 24.8 days: a longer one fires immediately. */
const LONGEST_MS = 2 ** 31 - 1;

/** Timers of local mode, one for each challenge with a deadline. They do not keep the process alive. */
export class LocalChallengeTimers implements ChallengeTimer {
  readonly #clock: Clock;
  readonly #onTime: (challengeId: string) => void;
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(clock: Clock, onTime: (challengeId: string) => void) {
    this.#clock = clock;
    this.#onTime = onTime;
  }

  /** Sets the deadline of the challenge and replaces an earlier one. */
  async at(challengeId: string, time: number): Promise<void> {
    clearTimeout(this.#timers.get(challengeId));
    const wait = Math.min(Math.max(time - this.#clock.now(), 0), LONGEST_MS);
    this.#timers.set(challengeId, setTimeout(() => this.#wake(challengeId, time), wait).unref());
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  #wake(challengeId: string, time: number): void {
    // The delay was capped at LONGEST_MS, or the clock was set back.
    if (this.#clock.now() < time) return void this.at(challengeId, time);
    this.#timers.delete(challengeId);
    this.#onTime(challengeId);
  }
}
