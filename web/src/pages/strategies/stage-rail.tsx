import type { ReactNode } from 'react';
import { type Stage, StageBadge } from './stage-badge.tsx';

const STAGES: readonly Stage[] = ['None', 'Staging', 'Production', 'Archived'];
const TEXTS: Readonly<Record<Stage, string>> = {
  None: 'Registered, not checked yet',
  Staging: 'Checked, waits for its promotion',
  Production: 'The champion: at most one',
  Archived: 'Was replaced; a rollback brings it back',
};

/**
 * The release stages in their order.
 *
 * @param now the current one
 * @param children what is in a stage
 */
export function StageRail(props: { readonly now?: Stage; readonly children?: (stage: Stage) => ReactNode }) {
  return (
    <ol className="rail">
      {STAGES.map((stage) => (
        <li
          key={stage}
          className="rail-stage"
          data-now={stage === props.now}
          aria-current={stage === props.now ? 'step' : undefined}
        >
          <StageBadge stage={stage} />
          <p className="faint">{TEXTS[stage]}</p>
          {props.children && <div className="rail-versions">{props.children(stage)}</div>}
        </li>
      ))}
    </ol>
  );
}
