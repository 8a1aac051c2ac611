import { setTimeout as sleep } from 'node:timers/promises';
import type { WatchHyperoptDeps } from '#domain/hyperopt/watch-hyperopt.ts';

/** Received event. */
export interface Received {
  readonly event?: string;
  /** A number where the stream counts. */
  readonly id?: any;
  readonly data?: any;
}

/** Events of a stream; skips comments and the preamble. */
export function parseEvents(text: string): Received[] {
  const blocks = text.split('\n\n').filter((block) => /^(event|id): /.test(block));
  return blocks.map((block) => {
    const field = (name: string) =>
      block
        .split('\n')
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2);
    const [event, id, data] = [field('event'), field('id'), field('data')];
    return {
      ...(event !== undefined && { event }),
      ...(id !== undefined && { id: /^\d{1,9}$/.test(id) ? Number(id) : id }),
      ...(data !== undefined && { data: JSON.parse(data) }),
    };
  });
}

/** All events of a response, read to its end. */
export async function eventsOf(response: Response): Promise<Received[]> {
  return parseEvents(await response.text());
}

/** Virtual clock that only pauses advance. A pause takes one turn of the event loop. */
export function virtualTime(): Pick<WatchHyperoptDeps, 'clock' | 'pause'> & { readonly pauses: number[] } {
  let now = 1_000_000;
  const pauses: number[] = [];
  return {
    pauses,
    clock: { now: () => now },
    pause: async (ms) => {
      pauses.push(ms);
      now += ms;
      await sleep(1);
    },
  };
}
