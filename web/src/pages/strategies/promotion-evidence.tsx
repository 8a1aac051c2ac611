import { Link } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { useCall } from '../../api/queries.ts';
import { Loaded, Skeleton } from '../../ui/states.tsx';
import { ChampionDifference } from './champion-difference.tsx';
import { CheckList } from './check-list.tsx';

/** What decides a promotion: the difference to the champion, the check list, the trades behind it. */
export function PromotionEvidence(props: {
  readonly model: string;
  readonly version: string;
  /** Version in Production; null without one. */
  readonly champion: string | null;
}) {
  const { model, version, champion } = props;
  const query = useCall('getVersion', { params: { model_name: model, version } });
  return (
    <Loaded query={query} skeleton={<Skeleton rows={12} />}>
      {(loaded) => (
        <>
          <ChampionDifference model={model} version={loaded} champion={champion} />
          <StagingChecks validation={loaded.validation} />
          <p>
            <Link to="/backtests/$id" params={{ id: loaded.backtest_run_id }}>
              Trades and report of v{version}
            </Link>
          </p>
        </>
      )}
    </Loaded>
  );
}

/** What the staging checked, the rules of the release policy among it; a promotion checks these rules again. */
function StagingChecks({ validation }: { readonly validation: ResponseOf<'getVersion'>['validation'] }) {
  const { checks, status } = validation;
  if (checks.length === 0) return null;
  return (
    <details open={status !== 'passed'}>
      <summary>
        Check list of the staging, with the release policy: {status}, {checks.length} checks
      </summary>
      <CheckList checks={checks} />
    </details>
  );
}
