import { isTerminal } from '#contract/backtest.ts';
import type { StoredStudy, StoredTrial } from '#contract/hyperopt.ts';
import type { Ownership } from '#domain/access.ts';
import type { HyperoptResult } from '#domain/hyperopt/get-hyperopt.ts';
import type { listHyperopts, listHyperoptTrials } from '#domain/hyperopt/list-hyperopts.ts';
import type { ResumeHyperoptInput } from '#domain/hyperopt/resume-hyperopt.ts';
import type { StartHyperoptInput } from '#domain/hyperopt/start-hyperopt.ts';
import type { StudyRow } from '#domain/hyperopt/study-ports.ts';
import type { StudyEvent, Watched } from '#domain/hyperopt/watch-hyperopt.ts';
import type { Page } from '#domain/ports.ts';
import { callerOf } from '../authenticate.ts';
import type { Handlers } from '../handler.ts';
import { watchHandler } from './hyperopt-events.ts';
import { resultView, startView, studyRowView, studyView, trialView } from './hyperopt-views.ts';
import { sharingHandlers } from './sharing.ts';

export interface HyperoptUseCases {
  readonly ownership: Ownership;
  startHyperopt(input: StartHyperoptInput): Promise<StoredStudy>;
  resumeHyperopt(input: ResumeHyperoptInput): Promise<StoredStudy>;
  listHyperopts(input: Parameters<typeof listHyperopts>[1]): Promise<Page<StudyRow>>;
  getHyperopt(jobId: string): Promise<StoredStudy>;
  getHyperoptResult(jobId: string): Promise<HyperoptResult>;
  listHyperoptTrials(input: Parameters<typeof listHyperoptTrials>[1]): Promise<Page<StoredTrial>>;
  watchHyperopt(watched: Watched, signal: AbortSignal): AsyncGenerator<StudyEvent>;
  cancelHyperopt(jobId: string): Promise<StoredStudy>;
}

type HyperoptHandlers = Pick<
  Handlers<'strategy'>,
  Extract<keyof Handlers<'strategy'>, `${string}Hyperopt${string}`>
>;

/** Seconds after which asking again is worth it. */
const RETRY_AFTER = '2';

/** HTTP on top of the use cases of hyperopt. */
export function hyperoptHandlers(useCases: HyperoptUseCases): HyperoptHandlers {
  const sharing = sharingHandlers(useCases.ownership, 'hyperopt', 'job_id');
  return {
    startHyperopt: async ({ body, headers, principal, correlationId }) => {
      const study = await useCases.startHyperopt({
        body,
        owner: principal.id,
        idempotencyKey: headers.get('Idempotency-Key'),
        correlationId,
      });
      // Relative to the request's own address, which may have a stage prefix.
      return { status: 200, body: startView(study), headers: { Location: `hyperopt/${study.job_id}` } };
    },
    listHyperopts: async ({ query, principal }) => {
      const page = await useCases.listHyperopts({ ...query, caller: callerOf(principal) });
      return { status: 200, body: { items: page.items.map(studyRowView), next_cursor: page.next } };
    },
    getHyperopt: async ({ params, headers }) => {
      const study = await useCases.getHyperopt(params.job_id);
      const tag = `"${study.revision}"`;
      // Kept by the client, asked for again each time.
      const caching = {
        ETag: tag,
        'Cache-Control': 'private, no-cache',
        ...(!isTerminal(study.status) && { 'Retry-After': RETRY_AFTER }),
      };
      if (isKnown(tag, headers.get('If-None-Match'))) return { status: 304, body: '', headers: caching };
      return { status: 200, body: studyView(study), headers: caching };
    },
    getHyperoptResult: async ({ params }) => ({
      status: 200,
      body: resultView(await useCases.getHyperoptResult(params.job_id)),
    }),
    listHyperoptTrials: async ({ params, query }) => {
      const page = await useCases.listHyperoptTrials({ ...params, ...query });
      return { status: 200, body: { items: page.items.map(trialView), next_cursor: page.next } };
    },
    watchHyperopt: watchHandler(useCases),
    cancelHyperopt: async ({ params }) => ({
      status: 200,
      body: studyView(await useCases.cancelHyperopt(params.job_id)),
    }),
    resumeHyperopt: async ({ params, headers, principal, correlationId }) => {
      const study = await useCases.resumeHyperopt({
        jobId: params.job_id,
        owner: principal.id,
        idempotencyKey: headers.get('Idempotency-Key'),
        correlationId,
      });
      return { status: 200, body: startView(study), headers: { Location: `../${study.job_id}` } };
    },
    getHyperoptSharing: sharing.read,
    shareHyperopt: sharing.share,
  };
}

/** Whether the header names the tag; caches on the way may have made it a weak one. */
function isKnown(tag: string, header: string | null): boolean {
  const tags = header?.split(',').map((each) => each.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(tag);
}
