import type { UseQueryResult } from '@tanstack/react-query';
import { CloudOff } from 'lucide-react';
import type { ReactNode } from 'react';
import { Panel } from '../../ui/parts.tsx';
import { Loaded, Skeleton } from '../../ui/states.tsx';
import type { Overview, OverviewPart } from './data.ts';

export interface OverviewProps {
  readonly query: UseQueryResult<Overview, Error>;
}

const NAMES: Readonly<Record<OverviewPart, string>> = {
  backtests: 'Backtests',
  hyperopt: 'Hyperopt jobs',
  collections: 'Collections',
  production: 'Production versions',
  challenges: 'Challenges',
  waiting: 'Waiting for you',
  freshness: 'Freshness',
};

/** A part of the overview in a box of `rows` rows: it has this height with any data, so that nothing below moves. */
export function OverviewPanel(
  props: OverviewProps & {
    readonly title: string;
    readonly rows: 3 | 5 | 10;
    readonly actions?: ReactNode;
    /** Parts that it shows; those that the answer lacks are named. */
    readonly parts: readonly OverviewPart[];
    readonly children: (overview: Overview) => ReactNode;
  },
) {
  const { query, title, rows, actions, parts, children } = props;
  return (
    <Panel title={title} actions={actions}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <section className="home-box" data-rows={rows} tabIndex={0} aria-label={`Content of ${title}`}>
        <Loaded query={query} skeleton={<Skeleton rows={rows} />}>
          {(overview) => {
            const missing = parts.filter((part) => overview.missing.includes(part));
            return (
              <>
                {missing.length > 0 && (
                  <p className="home-missing" role="status">
                    <CloudOff aria-hidden="true" /> Not read in time:{' '}
                    {missing.map((part) => NAMES[part]).join(', ')}.
                  </p>
                )}
                {missing.length < parts.length && children(overview)}
              </>
            );
          }}
        </Loaded>
      </section>
    </Panel>
  );
}
