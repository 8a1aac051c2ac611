import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { OperationId, ResponseOf } from '../api/client.ts';
import { useCall } from '../api/queries.ts';
import { ActButton } from '../auth/act.tsx';
import { PageHead, Panel } from '../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../ui/states.tsx';
import { ChangesList } from './changes-list.tsx';
import type { DraftState } from './drafts.ts';
import { Form } from './form.tsx';
import { RequestView } from './request-view.tsx';
import { OpenSections } from './section.tsx';

export type Strategy = ResponseOf<'listStrategies'>['items'][number];

/** What a form that starts a job begins with. */
export interface JobStart<Draft> {
  readonly strategies: readonly Strategy[];
  /** What the form is filled from: an id, or the strategy that was chosen. */
  readonly source: string;
  readonly initial: Draft;
  /** True: filled from a job; what differs from it is shown. */
  readonly isCopy: boolean;
}

/** Page of a form that starts a job: blank, for a strategy, or filled from another job. */
export function StartPage<Job, Draft>(props: {
  readonly title: string;
  /** Link to the job that fills the form, its id, and the job; without an id there is none. */
  readonly link: ReactNode;
  readonly from: string | undefined;
  readonly job: UseQueryResult<Job, Error>;
  /** Name of the strategy to begin with. Default: the first. */
  readonly strategy: string | undefined;
  /** A strategy that no list has. */
  readonly unlisted?: UseQueryResult<Strategy, Error>;
  readonly draftFor: (strategy: Strategy | undefined) => Draft;
  readonly draftOf: (job: Job) => Draft;
  readonly children: (start: JobStart<Draft>) => ReactNode;
}) {
  const { title, link, from, job, strategy, unlisted, draftFor, draftOf, children } = props;
  const strategies = useCall('listStrategies', {});
  // A kept draft is for its user only.
  const { isPending } = useCall('getMe', {});
  const skeleton = <Skeleton rows={24} className="panel" />;
  const form = (all: readonly Strategy[], before: Job | undefined) =>
    children({
      strategies: all,
      source: from ?? `for ${strategy ?? 'any'}`,
      initial: before ? draftOf(before) : draftFor(all.find((each) => each.strategy === strategy) ?? all[0]),
      isCopy: before !== undefined,
    });
  const begin = (all: readonly Strategy[]) =>
    from === undefined ? (
      form(all, undefined)
    ) : (
      <Loaded query={job} skeleton={skeleton}>
        {(before) => form(all, before)}
      </Loaded>
    );
  return (
    <>
      <PageHead title={title}>{from && <p className="muted">Filled from {link}</p>}</PageHead>
      <Loaded query={strategies} skeleton={skeleton}>
        {({ items }) => {
          if (isPending) return skeleton;
          if (items.length === 0) {
            return <Empty title="No strategy">Add a strategy file to the strategy folder.</Empty>;
          }
          if (!unlisted) return begin(items);
          return (
            <Loaded query={unlisted} skeleton={skeleton}>
              {(one) => begin([...items, one])}
            </Loaded>
          );
        }}
      </Loaded>
    </>
  );
}

/** A form that starts a job. Beside it: the request that it sends, and what differs from the job that has filled it. */
export function JobForm(props: {
  readonly label: string;
  readonly operation: OperationId;
  readonly body: object;
  /** The request of the job that has filled the form; undefined for none. */
  readonly before: object | undefined;
  readonly draft: Pick<DraftState<unknown>, 'isRestored' | 'reset'>;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly onSubmit: () => void;
  /** Content of the button that sends it. */
  readonly action: ReactNode;
  readonly children: ReactNode;
  /** Sections after the button. */
  readonly more?: ReactNode;
}) {
  const { label, operation, body, before, draft, error, isPending, onSubmit, action } = props;
  return (
    <div className="new-job">
      <Form
        label={label}
        error={error}
        onSubmit={onSubmit}
        more={props.more && <div className="folds">{props.more}</div>}
        actions={
          <>
            <ActButton operation={operation} type="submit" kind="primary" isBusy={isPending}>
              {action}
            </ActButton>
            {props.more && <OpenSections />}
          </>
        }
      >
        {draft.isRestored && (
          <div className="notice" role="status">
            Your values from before are back.
            <button type="button" className="btn small" onClick={draft.reset}>
              Begin again
            </button>
          </div>
        )}
        {props.children}
      </Form>
      <aside className="stack" aria-label="Request">
        {before && (
          <Panel title="Changes">
            <div className="pad">
              <ChangesList from={before} to={body} />
            </div>
          </Panel>
        )}
        <Panel title="Request">
          <div className="pad">
            <RequestView operation={operation} body={body} />
          </div>
        </Panel>
      </aside>
    </div>
  );
}
