/** Who waits for a place. */
export interface Waiting {
  readonly owner: string;
  /** Higher goes first among those of one owner. */
  readonly priority: number;
  readonly signal: AbortSignal;
}

interface Waiter extends Waiting {
  readonly order: number;
  readonly start: () => void;
}

interface OwnerTurn {
  running: number;
  waiting: number;
  /** Order of the turn that the owner had last; 0 before the first. */
  lastTurn: number;
}

/**
 * A number of places that go round the owners who wait: the next one is for the owner who has fewest, among these for the one
 * whose last turn is longest ago; then by priority, then for who has waited longest.
 */
export class TaskPlaces {
  readonly #places: number;
  readonly #waiting: Waiter[] = [];
  readonly #owners = new Map<string, OwnerTurn>();
  #order = 0;
  #turn = 0;
  #taken = 0;

  constructor(places: number) {
    this.#places = places;
  }

  /** Resolves with what gives the place back. Rejects with the signal's reason when it is aborted before. */
  async take(waiting: Waiting): Promise<() => void> {
    const { owner, priority, signal } = waiting;
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { owner, priority, signal, order: this.#order++, start: resolve };
    this.#waiting.push(waiter);
    this.#turnOf(owner).waiting++;
    const onAbort = () => {
      const index = this.#waiting.indexOf(waiter);
      if (index < 0) return;
      this.#waiting.splice(index, 1);
      this.#turnOf(owner).waiting--;
      this.#forget(owner);
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    this.#startNext();
    await promise;
    signal.removeEventListener('abort', onAbort);
    return () => this.#giveBack(owner);
  }

  #giveBack(owner: string): void {
    this.#taken--;
    this.#turnOf(owner).running--;
    this.#startNext();
    this.#forget(owner);
  }

  #startNext(): void {
    while (this.#taken < this.#places && this.#waiting.length > 0) {
      const next = this.#waiting.reduce((first, each) => (this.#compare(each, first) < 0 ? each : first));
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      const turn = this.#turnOf(next.owner);
      turn.waiting--;
      turn.running++;
      turn.lastTurn = ++this.#turn;
      this.#taken++;
      next.start();
    }
  }

  #compare(a: Waiter, b: Waiter): number {
    const [ofA, ofB] = [this.#turnOf(a.owner), this.#turnOf(b.owner)];
    return (
      ofA.running - ofB.running || ofA.lastTurn - ofB.lastTurn || b.priority - a.priority || a.order - b.order
    );
  }

  #turnOf(owner: string): OwnerTurn {
    const known = this.#owners.get(owner);
    if (known) return known;
    const turn = { running: 0, waiting: 0, lastTurn: 0 };
    this.#owners.set(owner, turn);
    return turn;
  }

  /** Who has nothing here any more needs no turn: the list would grow for ever. */
  #forget(owner: string): void {
    const { running, waiting } = this.#turnOf(owner);
    if (running === 0 && waiting === 0) this.#owners.delete(owner);
  }
}
