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
      from={
        from && (
          <Link to="/hyperopt/$id" params={{ id: from }}>
            {from}
          </Link>
        )
      }
      job={job}
    >
      {(strategies, before) => {
        const source = from ?? `for ${strategy ?? 'any'}`;
        const chosen = strategies.find((each) => each.strategy === strategy) ?? strategies[0];
        return (
          <NewForm
            key={source}
            {...{ strategies, source }}
            initial={before ? draftOf(before) : draftFor(chosen)}
            isCopy={before !== undefined}
          />
        );
      }}
    </StartPage>
  );
}
