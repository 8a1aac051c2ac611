import type { Construct } from 'constructs';
import { Flow, type FlowProps, placement } from './flow.ts';
import type { JobTask } from './job-task.ts';

export interface HyperoptFlowProps extends FlowProps {
  readonly hyperoptTask: JobTask;
}

/** The hyperopt state machine: as many workers at once as the study asks for, each on Spot first. */
export class HyperoptFlow extends Flow {
  constructor(scope: Construct, id: string, props: HyperoptFlowProps) {
    const { hyperoptTask, network } = props;
    super(scope, id, props, {
      file: 'hyperopt',
      task: hyperoptTask,
      substitutions: {
        HyperoptTask: hyperoptTask.definition.taskDefinitionArn,
        ...placement('Worker', network.backtests),
      },
    });
  }
}
