import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** True when this machine has moto, the AWS mock in Python. */
export function hasMoto(): boolean {
  return spawnSync('python3', ['-c', 'import moto.server'], { stdio: 'ignore' }).status === 0;
}

/**
 * Moto server on a free port. It handles one request at a time, because its conditional puts are not atomic across
 * threads. It ends when its standard input closes, at the latest with this process.
 */
const SERVE = `
import sys, threading, os
from werkzeug.serving import make_server
from moto.server import DomainDispatcherApplication, create_backend_app
server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app))
print(server.server_port, flush=True)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
server.serve_forever()
`;

export async function startMoto(): Promise<{ endpoint: string; stop(): Promise<void> }> {
  const child: ChildProcess = spawn('python3', ['-c', SERVE], { stdio: ['pipe', 'pipe', 'ignore'] });
  const [port] = await once(createInterface(child.stdout!), 'line');
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop: async () => {
      child.stdin!.end();
      await once(child, 'exit');
    },
  };
}
