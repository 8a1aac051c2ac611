import { Archive, CircleDashed, FlaskConical, Rocket } from 'lucide-react';

const STAGES = {
  None: { Icon: CircleDashed, tone: undefined },
  Staging: { Icon: FlaskConical, tone: 'warn' },
  Production: { Icon: Rocket, tone: 'up' },
  Archived: { Icon: Archive, tone: undefined },
} as const;

export type Stage = keyof typeof STAGES;

/** A release stage by shape, colour and word. */
export function StageBadge({ stage }: { readonly stage: Stage }) {
  const { Icon, tone } = STAGES[stage];
  return (
    <span className="badge" data-tone={tone}>
      <Icon aria-hidden="true" /> <span className="status-word">{stage}</span>
    </span>
  );
}
