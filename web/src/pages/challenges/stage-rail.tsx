import challenges from 'virtual:challenges';
import { words } from '../../ui/format.ts';
import { Time } from '../../ui/parts.tsx';
import { stateOf } from './challenge-state.ts';
import type { Challenge } from './search.ts';

/** The canary stages with the challenger's share, if there is a canary, and what the next step waits for. */
export function StageRail({ challenge }: { readonly challenge: Challenge }) {
  const { canary_stage, enable_canary, next_stage, traffic_split } = challenge;
  const now = challenges.stages.findIndex(({ name }) => name === canary_stage);
  return (
    <>
      {enable_canary && (
        <ol className="canary">
          {challenges.stages.map(({ name, share }, index) => (
            <li key={name} data-now={index === now} aria-current={index === now ? 'step' : undefined}>
              <strong>{words(name)}</strong>
              <span className="muted">challenger {Math.round(share * 100)} %</span>
              <span className="faint">{index < now ? 'done' : index === now ? 'now' : ' '}</span>
            </li>
          ))}
        </ol>
      )}
      <div className="pad stack">
        <p>
          {!enable_canary && 'Without a canary. '}Traffic: champion {Math.round(traffic_split[0]! * 100)} %,
          challenger {Math.round(traffic_split[1]! * 100)} %
        </p>
        <meter
          min={0}
          max={1}
          value={traffic_split[1]}
          aria-label="Share of the challenger in the traffic"
          title="Share of the challenger"
        />
        <p className="muted">
          {stateOf(challenge)}
          {challenge.status === 'active' && next_stage && (
            <>
              . The next stage is possible from <Time at={next_stage.not_before} />
            </>
          )}
        </p>
      </div>
    </>
  );
}
