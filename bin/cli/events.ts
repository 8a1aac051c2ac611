import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { PlatformEvent } from '#contract/platform/events.ts';
import { EVENT_SELECTION, EVENT_TYPES } from '#contract/values/event-types.ts';
import { PLATFORM } from '#contract/values/names.ts';
import { type ApiClient, ApiError, readJson } from './client.ts';
import { readEvents } from './hyperopt/watch.ts';
import { UsageError } from './options.ts';
import { percent, second } from './output.ts';
import { sessionWith } from './session.ts';

/** A stream without data for this long is broken, ms: the service sends a comment every 15 s. */
const SILENCE_MS = 45_000;
/** Failed connections in a row before the command ends: longer than a service takes to restart. */
const MAX_FAILURES = 20;
/** Events that are sent again are at most some seconds old: so many ids recognize them. */
const REMEMBERED_IDS = 1_000;
/** Age up to which the service keeps the position of a stream, minutes. */
const MAX_SINCE_MINUTES = 24 * 60;

interface EventsOptions {
  readonly types: string;
  readonly since: string;
  readonly json?: boolean;
}

export function addEventsCommand(program: Command): void {
  const session = sessionWith(program);
  program
    .command('events')
    .description('follow what happens: ends of jobs, stages of versions, challenges, market data')
    .requiredOption('--follow', 'print events as they happen, until Ctrl-C')
    .option(
      '--types <list>',
      `comma-separated types, such as version.promoted or version.* (see docs/events.md)`,
      '*',
    )
    .option('--since <minutes>', 'begin with the events of the last minutes, up to 1440', '0')
    .option('--json', 'print one line of JSON per event, with the attributes of CloudEvents')
    .action((options: EventsOptions) => {
      const { types, since } = checked(options);
      return session(async ({ client }) => {
        const stop = new AbortController();
        process.once('SIGINT', () => stop.abort());
        const from = since === undefined ? undefined : String(Date.now() - since * 60_000);
        await followEvents(client, { types, from, signal: stop.signal }, (event) =>
          console.log(options.json ? JSON.stringify(event) : eventText(event)),
        );
      });
    });
}

function checked({ types, since }: EventsOptions): { readonly types: string; readonly since?: number } {
  if (!EVENT_SELECTION.test(types)) {
    throw new UsageError(
      `--types ${types} is not a list of event types. Use *, a kind such as version.*, or: ${Object.keys(EVENT_TYPES).join(', ')}`,
    );
  }
  const minutes = Number(since);
  if (!/^\d{1,4}$/.test(since) || minutes > MAX_SINCE_MINUTES) {
    throw new UsageError(`--since ${since} is not a number of minutes from 0 to ${MAX_SINCE_MINUTES}`);
  }
  return minutes === 0 ? { types } : { types, since: minutes };
}

interface Following {
  readonly types: string;
  /** Unix ms; undefined: from now on. */
  readonly from: string | undefined;
  readonly signal: AbortSignal;
}

/** Passes each event once to `onEvent` until the signal is aborted. A broken stream continues after its last event. */
export async function followEvents(
  client: ApiClient,
  { types, from, signal }: Following,
  onEvent: (event: PlatformEvent) => void,
): Promise<void> {
  const position: Position = { lastId: from && `${from}~${from}`, retryMs: 3_000, failures: 0 };
  const seen = new Set<string>();
  const once = (event: PlatformEvent) => {
    if (!seen.has(event.id)) onEvent(event);
    remember(seen, event.id);
  };
  while (!signal.aborted) {
    try {
      await readStream(client, types, position, signal, once);
    } catch (error) {
      if (signal.aborted) return;
      position.failures += 1;
      if (error instanceof ApiError || position.failures >= MAX_FAILURES) throw error;
    }
    await sleep(position.retryMs, undefined, { signal }).catch(() => undefined);
  }
}

interface Position {
  lastId: string | undefined;
  retryMs: number;
  failures: number;
}

/** Reads one connection to its end and keeps its position. */
async function readStream(
  client: ApiClient,
  types: string,
  position: Position,
  signal: AbortSignal,
  onEvent: (event: PlatformEvent) => void,
): Promise<void> {
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(), SILENCE_MS);
  try {
    const response = await client.open(
      `/api/v1/events?types=${encodeURIComponent(types)}`,
      { accept: 'text/event-stream', ...(position.lastId && { 'last-event-id': position.lastId }) },
      AbortSignal.any([signal, silent.signal]),
    );
    const events = readEvents(response.body!, () => timer.refresh());
    for await (const { event, id = position.lastId, data = '{}', retry = position.retryMs } of events) {
      Object.assign(position, { failures: 0, retryMs: retry, lastId: id });
      if (event && event in EVENT_TYPES) onEvent(readJson<PlatformEvent>(data));
    }
  } finally {
    clearTimeout(timer);
  }
}

function remember(seen: Set<string>, id: string): void {
  seen.add(id);
  if (seen.size > REMEMBERED_IDS) seen.delete(seen.values().next().value!);
}

/** One line: time, type, subject, the user who changed it, and the most important value. */
function eventText(event: PlatformEvent): string {
  const { time, type, subject, actor } = event;
  const by = actor === PLATFORM ? '' : `by ${actor}`;
  return [second(time), type.padEnd(LONGEST_TYPE), subject, by, detail(event)].filter(Boolean).join('  ');
}

const LONGEST_TYPE = Math.max(...Object.keys(EVENT_TYPES).map((type) => type.length));

function detail({ data }: PlatformEvent): string {
  if ('error' in data) return `${data.error.code}: ${data.error.message}`;
  if ('result' in data) {
    const { total_profit_pct, total_trades } = data.result;
    return `profit ${percent(total_profit_pct)}, ${total_trades} trades`;
  }
  if ('best_value' in data) return `best ${data.best_value} in trial ${data.best_trial}`;
  if ('version' in data) return [`version ${data.version}`, data.reason].filter(Boolean).join(', ');
  if ('new_gaps' in data) return `${data.new_gaps} new of ${data.gaps} gaps`;
  if ('reason' in data) return data.reason ?? '';
  return ('message' in data && data.message) || '';
}
