/** The exchange of the tests as a process of its own: tells where it listens, and ends with its parent. */
import { startExchangeServer } from '../../test/support/exchange-server.ts';

const server = await startExchangeServer();
process.send?.(server.url);
process.on('disconnect', () => process.exit());
// A bench asks a hundred thousand times.
setInterval(() => {
  server.requests.length = 0;
}, 100);
