import { oneOf, optional, secret, text, url, withDefault } from './env-fields.ts';

/** The canary: a backtest that the platform submits to itself, as a client would. */

/** Time between two runs of the canary. They begin at multiples of it, UTC. */
export const CANARY_INTERVAL_MS = 5 * 60_000;

/** Environment of the canary's function. */
export const CanaryEnv = {
  variables: {
    ENVIRONMENT: withDefault(text, 'development'),
    LOG_LEVEL: withDefault(oneOf('DEBUG', 'INFO', 'WARN', 'ERROR'), 'INFO'),
    /** Base address of the backend. */
    BACKEND_URL: url,
    /** Address of the dashboard; absent: there is none to check. */
    WEB_URL: optional(url),
    /** Token by which the backend knows the canary. The backend accepts two, so that one can be replaced; absent there: no canary. */
    CANARY_TOKEN: secret,
  },
};
