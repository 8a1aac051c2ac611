import { type ChildProcess, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { freePort } from '#adapters/local/dynoxide.ts';
import { runCommand } from '../cdk.ts';
import { startProcess } from '../processes.ts';
import type { Part } from '../rehearsal.ts';

const POM = join(import.meta.dirname, '../dynamodb-local/pom.xml');
/** Maven downloads the files once. */
const JARS = join(import.meta.dirname, '../../../node_modules/.cache/dynamodb-local');
/** Tests of what is stored: conditions, transactions, indexes and pages. */
const TESTS = ['test/adapters/dynamo-', 'test/statemachines/mark-failed.test.ts'];
const START_LIMIT_MS = 60_000;

/** Runs the tests of the stores against DynamoDB Local instead of the embedded database. */
export const dynamodb: Part = {
  name: 'dynamodb',
  title: 'stores on DynamoDB Local',
  missing: () => {
    const absent = ['java', 'mvn'].filter((command) => spawnSync(command, ['-version']).error);
    return absent.length > 0
      ? `${absent.join(' and ')} not found: DynamoDB Local needs Java 11 and Maven`
      : undefined;
  },
  seconds: 30,
  run: async (rehearsal) => {
    const copy = ['-q', '-B', '-f', POM, 'dependency:copy-dependencies', `-DoutputDirectory=${JARS}`];
    const { status, text } = await runCommand('mvn', copy, {});
    if (status !== 0) {
      rehearsal.missing('stores on DynamoDB Local', `Maven cannot get it: ${text.trim().split('\n')[0]}`);
      return;
    }
    await rehearsal.verify('stores on DynamoDB Local', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'touchstone-dynamodb-'));
      const port = await freePort();
      const server = startServer(port, folder);
      try {
        await waitFor(port, server);
        const vitest = await runCommand('vitest', ['run', '--project', 'rest', ...TESTS], {
          DYNAMODB_ENDPOINT: `http://127.0.0.1:${port}`,
          AWS_ACCESS_KEY_ID: 'test',
          AWS_SECRET_ACCESS_KEY: 'test',
          AWS_REGION: 'us-east-1',
        });
        if (vitest.status !== 0) throw new Error(vitest.text.slice(-3000));
        const summary = stripVTControlCharacters(vitest.text).match(/Tests +(\d+) passed/);
        return `${summary?.[1]} tests`;
      } finally {
        server.kill();
        rmSync(folder, { recursive: true });
      }
    });
  },
};

function startServer(port: number, cwd: string): ChildProcess {
  const main = 'com.amazonaws.services.dynamodbv2.local.main.ServerRunner';
  const options = ['-inMemory', '-disableTelemetry', '-port', String(port)];
  const args = [`-Djava.library.path=${JARS}`, '-cp', `${JARS}/*`, main, ...options];
  return startProcess('java', args, { cwd, stdio: 'ignore' });
}

/** DynamoDB Local answers a request without a signature with 400. */
async function waitFor(port: number, server: ChildProcess): Promise<void> {
  const end = Date.now() + START_LIMIT_MS;
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}`).catch(() => undefined);
    if (response) return;
    if (server.exitCode !== null || Date.now() > end) throw new Error('DynamoDB Local did not start');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
