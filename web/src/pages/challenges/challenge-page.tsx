import './challenges.css';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCall } from '../../api/queries.ts';
import { words } from '../../ui/format.ts';
import { PageHead, Panel, Time } from '../../ui/parts.tsx';
import { Loaded, Skeleton } from '../../ui/states.tsx';
import { ChallengeActions } from './challenge-actions.tsx';
import { stateOf } from './challenge-state.ts';
import { EvaluationCharts } from './evaluation-charts.tsx';
import { EventsPanel } from './events-panel.tsx';
import { GuardrailsPanel } from './guardrails-panel.tsx';
import type { Challenge } from './search.ts';
import { StageRail } from './stage-rail.tsx';
import { TradesPanel } from './trades-panel.tsx';
import { VerdictPanel } from './verdict-panel.tsx';

const route = getRouteApi('/challenges/$id');

/** One challenge: what it waits for, how the versions compare, and what an approver can do. */
export function ChallengePage() {
  const { id } = route.useParams();
  const query = useCall(
    'getChallenge',
    { params: { challenge_id: id } },
    { isMoving: ({ status }) => status === 'active' },
  );
  const challenge = query.data;
  return (
    <>
      <PageHead
        title={
          challenge
            ? `${challenge.model_name}: v${challenge.champion_version} against v${challenge.challenger_version}`
            : id
        }
        actions={challenge && <ChallengeActions challenge={challenge} />}
      >
        <p className="muted one-line">{challenge ? <Facts challenge={challenge} /> : ' '}</p>
      </PageHead>
      <Loaded query={query} skeleton={<Skeleton rows={16} />}>
        {(loaded) => <ChallengeDetail challenge={loaded} />}
      </Loaded>
    </>
  );
}

function Facts({ challenge }: { readonly challenge: Challenge }) {
  const { model_name, created_by, created_at, ends_at, ended_at } = challenge;
  return (
    <>
      <Link to="/strategies/$name" params={{ name: model_name }}>
        {model_name}
      </Link>{' '}
      · started <Time at={created_at} /> by {created_by} ·{' '}
      {ended_at ? (
        <>
          ended <Time at={ended_at} />
        </>
      ) : (
        <>
          ends <Time at={ends_at} /> at the latest
        </>
      )}
    </>
  );
}

function ChallengeDetail({ challenge }: { readonly challenge: Challenge }) {
  const { challenge_id, hold, promotion_rejected, status, warnings } = challenge;
  const evaluation = useCall(
    'evaluateChallenge',
    { params: { challenge_id } },
    { isMoving: () => status === 'active' },
  );
  return (
    <>
      {hold && (
        <p className="notice" data-tone="warn">
          On hold since <Time at={hold.since} />: {stateOf(challenge)}
          {hold.note && ` (“${hold.note}”)`}
        </p>
      )}
      {promotion_rejected && (
        <p className="notice" data-tone="down">
          The challenger has won and was not promoted: {promotion_rejected.message} An approver must promote
          it.
        </p>
      )}
      {warnings.map((warning) => (
        <p key={warning} className="notice" data-tone="warn">
          {warning}
        </p>
      ))}
      {/* Nothing below moves when the verdict comes. */}
      <Loaded query={evaluation} skeleton={<Skeleton rows={24} />}>
        {(loaded) => (
          <>
            <VerdictPanel challenge={challenge} evaluation={loaded} />
            <GuardrailsPanel challenge={challenge} evaluation={loaded} />
            <Panel title={status === 'active' ? 'Stages' : `Stages: ${words(status)}`}>
              <StageRail challenge={challenge} />
            </Panel>
            <EvaluationCharts challenge={challenge} />
            <TradesPanel challenge={challenge} />
            <EventsPanel id={challenge_id} />
          </>
        )}
      </Loaded>
    </>
  );
}
