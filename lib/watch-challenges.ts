import { METRICS } from '#contract/names.ts';
import type { StageConfig } from './config.ts';
import { graph, ownMetric } from './metrics.ts';
import type { Monitoring } from './monitoring.ts';

/** Alarms and graphs of champion/challenger tests: what the platform does to them by itself. */
export function watchChallenges(monitoring: Monitoring, config: StageConfig): void {
  const count = (name: string) => ownMetric(config, 'challenges', name, 'Sum');
  const rolledBack = count(METRICS.challengesRolledBack);
  const held = count(METRICS.challengesHeld);
  const faults = ownMetric(config, 'reconcile', METRICS.challengeFaults, 'Sum');
  monitoring.alarm('ChallengesRolledBack', {
    metric: rolledBack,
    threshold: 1,
    impact: 'A challenger lost too much: the platform took its traffic away and ended the challenge.',
  });
  monitoring.alarm('ChallengesHeld', {
    metric: held,
    threshold: 1,
    impact: 'A challenge waits for somebody: its challenger gets no further share until it is seen to.',
  });
  monitoring.alarm('ChallengeFaults', {
    metric: faults,
    threshold: 1,
    periods: 2,
    impact: 'Time stands still for a challenge: nothing but a trade or a call expires, holds or advances it.',
  });
  monitoring.dashboard.addWidgets(
    graph('Challenges: ended, held, rolled back', [count(METRICS.challengesEnded), held, rolledBack]),
    graph('Challenges that time could not be let pass for', [faults]),
  );
}
