/** Runs the exchange of the tests in its own process. Sends its URL to the parent process and ends with it. */
import { startExchangeServer } from '../../test/support/exchange-server.ts';

const server = await startExchangeServer();
process.send?.(server.url);
process.on('disconnect', () => process.exit());
// Free memory: a benchmark sends a hundred thousand requests.
setInterval(() => {
  server.requests.length = 0;
}, 100);
