import { Link } from '@tanstack/react-router';
import { useCall } from '../../api/queries.ts';
import { NO_VALUE } from '../../ui/format.ts';
import type { Job } from './data.ts';
import { Fact } from './job-head.tsx';

/** Owner of a run, and the versions that were registered of it. Callers who see it by its model alone do not see its owner. */
export function OwnerFacts({ job }: { readonly job: Job }) {
  const { job_id, strategy, status } = job;
  const sharing = useCall('getBacktestSharing', { params: { job_id } });
  const versions = useCall(
    'listVersions',
    { params: { model_name: strategy } },
    // A strategy without a version has no model.
    { enabled: status === 'completed' },
  );
  const registered = versions.data?.versions.filter((each) => each.backtest_run_id === job_id) ?? [];
  return (
    <>
      <Fact name="Owner">{sharing.data?.owner ?? NO_VALUE}</Fact>
      {registered.map(({ version, stage }) => (
        <Fact key={version} name="Registered as">
          <Link to="/strategies/$name/versions/$version" params={{ name: strategy, version }}>
            version {version}
          </Link>{' '}
          {stage !== 'None' && stage}
        </Fact>
      ))}
    </>
  );
}
