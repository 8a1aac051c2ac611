import { Link } from '@tanstack/react-router';
import { CheckCircle2, TriangleAlert } from 'lucide-react';
import { decimal, duration, NO_VALUE, shortSymbol } from '../../ui/format.ts';
import { Empty } from '../../ui/states.tsx';
import type { Overview } from './data.ts';
import { OverviewPanel, type OverviewProps } from './overview-panel.tsx';

type Freshness = NonNullable<Overview['freshness']>;

/** The oldest stored series. */
export function FreshnessPanel({ query }: OverviewProps) {
  return (
    <OverviewPanel
      query={query}
      title="Freshness of the data"
      rows={5}
      parts={['freshness']}
      actions={
        <Link to="/data" search={{ sort: 'oldest' }} className="btn small plain">
          All
        </Link>
      }
    >
      {({ freshness }) =>
        !freshness || freshness.series === 0 ? (
          <Empty title="No candles are stored">
            <Link to="/data" className="btn">
              Collect candles
            </Link>
          </Empty>
        ) : (
          <ul className="home-rows home-series">
            <li>
              <Summary freshness={freshness} />
            </li>
            {freshness.worst.map(({ symbol, timeframe, age_hours, fresh }) => (
              <li key={`${symbol} ${timeframe}`}>
                <span className="home-name">
                  <Link
                    to="/data"
                    search={timeframe === null ? {} : { series: `${symbol} ${timeframe}` }}
                    title={symbol}
                  >
                    {shortSymbol(symbol)}
                  </Link>
                  <span className="faint">{timeframe}</span>
                </span>
                <span className={`home-value ${fresh ? '' : 'warn'}`}>
                  {age_hours === null ? NO_VALUE : `${duration(age_hours * 3_600)} old`}
                </span>
              </li>
            ))}
          </ul>
        )
      }
    </OverviewPanel>
  );
}

function Summary({ freshness }: { readonly freshness: Freshness }) {
  const { stale, series, complete, exchange, stale_threshold_hours } = freshness;
  const of = `${decimal(series, 0)} series of ${exchange}${complete ? '' : ' (the first 500 symbols)'}`;
  return stale === 0 ? (
    <span className="home-name up">
      <CheckCircle2 aria-hidden="true" />
      <span>
        All {of} are younger than {stale_threshold_hours} h
      </span>
    </span>
  ) : (
    <span className="home-name warn">
      <TriangleAlert aria-hidden="true" />
      <span>
        {decimal(stale, 0)} of {of} are older than {stale_threshold_hours} h or damaged
      </span>
    </span>
  );
}
