import { EVERYONE, type Grant, type Sharing } from '#contract/sharing.ts';
import type { ApiClient } from './client.ts';
import { table } from './format.ts';
import { UsageError } from './usage.ts';

export interface ShareOptions {
  /** Principals who get it. */
  readonly with: readonly string[];
  readonly write?: boolean;
  /** Principals who lose it. */
  readonly without: readonly string[];
  readonly private?: boolean;
}

/** One principal more; a bare name is that of a user. */
export function principal(text: string, previous: readonly string[] = []): string[] {
  const named = text === EVERYONE || /^(user|group):/.test(text);
  return [...previous, named ? text : `user:${text}`];
}

/** The service that answers for a resource: a job by the prefix of its id, anything else is the name of a model. */
export function serviceOf(resource: string): 'backend' | 'strategy' {
  return resource.startsWith('ho-') ? 'strategy' : 'backend';
}

/** Throws {@link UsageError} for options that contradict each other. */
export function checkShareOptions(options: ShareOptions): void {
  if (options.private && options.with.length > 0) {
    throw new UsageError(
      '--private takes it back from everybody: leave out --with, or share it anew afterwards',
    );
  }
  if (options.write && options.with.length === 0) throw new UsageError('--write says how --with shares it');
}

/** Shares a job or a model, or takes it back, and prints with whom it is shared then. Without options it only prints. */
export async function shareResource(
  client: ApiClient,
  resource: string,
  options: ShareOptions,
): Promise<void> {
  const path = pathOf(resource);
  const sharing = await client.get<Sharing>(path);
  const changes = options.private || options.with.length > 0 || options.without.length > 0;
  print(
    resource,
    changes
      ? await client.put<Sharing>(path, { shared_with: changed(sharing.shared_with, options) })
      : sharing,
  );
}

function pathOf(resource: string): string {
  const id = encodeURIComponent(resource);
  if (resource.startsWith('bt-')) return `/api/v1/backtests/${id}/sharing`;
  if (resource.startsWith('ho-')) return `/api/v1/hyperopt/${id}/sharing`;
  return `/api/v1/models/${id}/sharing`;
}

/** Who had it keeps it, but for whom it is taken back from or given at another level. */
function changed(before: readonly Grant[], options: ShareOptions): Grant[] {
  if (options.private) return [];
  const given = [...new Set(options.with)];
  const kept = before.filter(
    (grant) => !given.includes(grant.principal) && !options.without.includes(grant.principal),
  );
  return [
    ...kept,
    ...given.map((each) => ({ principal: each, level: options.write ? 'write' : 'read' }) as const),
  ];
}

function print(resource: string, { owner, shared_with }: Sharing): void {
  console.log(`${resource} is ${owner}'s${shared_with.length > 0 ? ', shared with:' : ' alone'}`);
  if (shared_with.length === 0) return;
  const does = { read: 'read', write: 'read and change' };
  console.log(
    table(
      ['Who', 'May'],
      shared_with.map(({ principal, level }) => [principal, does[level]]),
    ),
  );
}
