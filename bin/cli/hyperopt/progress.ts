import cliProgress from 'cli-progress';
import { figure } from './figures.ts';
import type { Watcher } from './watch.ts';

/** Shows how a study goes on. */
export interface Progress extends Watcher {
  end(): void;
}

/** A bar where a person watches, lines elsewhere, with `json` every event as a line of JSON. */
export function showProgress(output: NodeJS.WriteStream, json = false): Progress {
  if (json) return jsonLines();
  return output.isTTY ? liveBar(output) : plainLines();
}

function jsonLines(): Progress {
  const print = (event: string, data: unknown) => console.log(JSON.stringify({ event, data }));
  return {
    job: (job) => print('job', job),
    trial: (trial, ended) => print('trial', { ended, ...trial }),
    end: () => undefined,
  };
}

function liveBar(output: NodeJS.WriteStream): Progress {
  const format =
    '{status} [{bar}] {percentage} % | {value}/{total} trials | best {best} | {duration_formatted}';
  const bar = new cliProgress.SingleBar(
    { format, hideCursor: true, stream: output, etaBuffer: 50 },
    cliProgress.Presets.shades_classic,
  );
  let started = false;
  return {
    job: ({ status, current_trial, total_trials, best_value }) => {
      if (!started) bar.start(total_trials, current_trial, { status, best: figure(best_value) });
      started = true;
      bar.update(current_trial, { status, best: figure(best_value) });
    },
    trial: ({ best_value }, ended) => bar.update(ended, { status: 'running', best: figure(best_value) }),
    end: () => {
      if (started) bar.stop();
    },
  };
}

/** A line for each better value and for each tenth of the trials. */
function plainLines(): Progress {
  let best: number | null = null;
  let told = -1;
  let total = 0;
  const line = (status: string, progress: number, ended: string, value: number | null) => {
    const tenth = Math.floor(progress / 10);
    if (tenth <= told && value === best) return;
    [best, told] = [value, Math.max(told, tenth)];
    console.log(`${status} ${progress} %, ${ended}, best ${figure(value)}`);
  };
  return {
    job: ({ status, progress, current_trial, total_trials, best_value }) => {
      total = total_trials;
      line(status, progress, `${current_trial} of ${total} trials`, best_value);
    },
    trial: ({ number, state, value, best_value, progress }, ended) => {
      const told = `${ended} of ${total} trials, number ${number} ${state} ${figure(value)}`;
      line('running', progress, told, best_value);
    },
    end: () => undefined,
  };
}
