import { Link, useSearch } from '@tanstack/react-router';
import { useCall } from '../../api/queries.ts';
import { StartPage } from '../../forms/start-job.tsx';
import { draftFor, draftOf } from './draft.ts';
import { NewForm } from './new-form.tsx';
import './hyperopt.css';

/** Start of a hyperopt job: blank, for a strategy, or filled from another job. */
export function NewHyperoptPage() {
  const { from, strategy } = useSearch({ from: '/hyperopt/new' });
  const job = useCall('getHyperopt', { params: { job_id: from ?? '' } }, { enabled: from !== undefined });
  return (
    <StartPage
      title={from ? 'Search again with changes' : 'New search'}
      link={
        from && (
          <Link to="/hyperopt/$id" params={{ id: from }}>
            {from}
          </Link>
        )
      }
      {...{ from, job, strategy, draftFor, draftOf }}
    >
      {(start) => <NewForm key={start.source} {...start} />}
    </StartPage>
  );
}
