import type { Construct } from 'constructs';
import { Flow, type FlowProps, placement } from './flow.ts';
import type { JobTask } from './job-task.ts';
import type { TaskImage } from './task-image.ts';

export interface BacktestFlowProps extends FlowProps {
  readonly taskImage: TaskImage;
  readonly backtestTask: JobTask;
}

/** The backtest state machine: one task, of the platform's own image or of a registered version's. */
export class BacktestFlow extends Flow {
  constructor(scope: Construct, id: string, props: BacktestFlowProps) {
    const { taskImage, backtestTask, network } = props;
    super(scope, id, props, {
      file: 'backtest',
      task: backtestTask,
      substitutions: {
        TaskImage: taskImage.service.alias.functionArn,
        BacktestTask: backtestTask.definition.taskDefinitionArn,
        ...placement('Backtest', network.backtests),
      },
      functions: [taskImage.service.alias],
      laterDefinitions: {
        pattern: taskImage.definitions,
        why: 'Definitions of registered images are made later; their family is the backtest’s.',
      },
    });
  }
}
