import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { readEvent } from './base.ts';

/** Where a GitHub workflow shows a report: its job summary, and one comment of the pull request. */

/** GitHub's limits, characters and bytes; both with room for what is added. */
export const MAX_COMMENT = 65_000;
export const MAX_SUMMARY = 250_000;

const TIMEOUT_MS = 20_000;
const PAGE = 100;
/** Pages of comments that are searched for the one of an earlier push. */
const MAX_PAGES = 20;

/** A pull request whose comments can be written. */
interface PullRequest {
  /** `https://api.github.com/repos/<owner>/<name>` */
  readonly repository: string;
  readonly number: number;
  readonly token: string;
}

export interface CommentOutcome {
  readonly state: 'created' | 'updated' | 'not_needed' | 'no_pull_request' | 'failed';
  readonly message: string;
}

/** Appends to the summary of the job; elsewhere does nothing. */
export function writeSummary(text: string): void {
  const file = process.env.GITHUB_STEP_SUMMARY;
  if (file) appendFileSync(file, `${text}\n`);
}

/**
 * Writes the one comment of this command in the pull request of the workflow, or replaces its text. Never throws: a token of a fork may
 * only read, and the summary has the report.
 *
 * @param folder of the strategies in the repository; each has a comment of its own
 * @param isWorthNew false: only an existing comment is replaced
 */
export async function writeComment(
  text: string,
  folder: string,
  isWorthNew: boolean,
): Promise<CommentOutcome> {
  const found = pullRequest();
  if (typeof found === 'string') return { state: 'no_pull_request', message: found };
  const marker = `<!-- touchstone-ci ${createHash('sha256').update(folder).digest('hex').slice(0, 12)} -->`;
  const body = `${marker}\n${text}`;
  try {
    const id = await findComment(found, marker);
    if (id === undefined && !isWorthNew) return { state: 'not_needed', message: 'No strategy changed' };
    if (id === undefined) await send(found, 'POST', `/issues/${found.number}/comments`, { body });
    else await send(found, 'PATCH', `/issues/comments/${id}`, { body });
    return { state: id === undefined ? 'created' : 'updated', message: `Pull request ${found.number}` };
  } catch (error) {
    const message = `The comment was not written: ${(error as Error).message}. The job summary has the report.`;
    return { state: 'failed', message };
  }
}

function pullRequest(): PullRequest | string {
  const { GITHUB_API_URL: api, GITHUB_REPOSITORY: name, GITHUB_TOKEN: token } = process.env;
  const { pull_request } = readEvent();
  if (!pull_request) return 'This run is not for a pull request';
  if (!api || !name) return 'GITHUB_API_URL or GITHUB_REPOSITORY is not set: this is not a GitHub workflow';
  if (!token) return 'GITHUB_TOKEN is not set: pass it in env of the step';
  return { repository: `${api}/repos/${name}`, number: pull_request.number, token };
}

interface Comment {
  readonly id: number;
  readonly body?: string | null;
  readonly user?: { readonly type: string } | null;
}

/** The first comment with the marker that a bot has written: any user can write a marker. */
async function findComment(target: PullRequest, marker: string): Promise<number | undefined> {
  for (let page = 1; page <= MAX_PAGES; page++) {
    const path = `/issues/${target.number}/comments?per_page=${PAGE}&page=${page}`;
    const comments = (await send(target, 'GET', path)) as readonly Comment[];
    const own = comments.find(({ body, user }) => user?.type === 'Bot' && body?.startsWith(marker));
    if (own) return own.id;
    if (comments.length < PAGE) return undefined;
  }
  return undefined;
}

async function send(
  { repository, token }: PullRequest,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const response = await fetch(`${repository}${path}`, {
    method,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token}`,
      'x-github-api-version': '2022-11-28',
      'user-agent': 'touchstone',
    },
    // A redirect would send the token to another address.
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.ok) return response.json();
  await response.body?.cancel();
  const reason = response.status === 403 ? '; a pull request of a fork has a token that may only read' : '';
  throw new Error(`GitHub responded with status ${response.status} to ${method}${reason}`);
}
