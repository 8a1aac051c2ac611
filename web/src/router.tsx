import { createRouter, stringifySearchWith } from '@tanstack/react-router';
import { auditRoutes } from './pages/audit/routes.ts';
import { backtestRoutes } from './pages/backtests/routes.ts';
import { challengeRoutes } from './pages/challenges/routes.ts';
import { compareRoutes } from './pages/compare/routes.ts';
import { dataRoutes } from './pages/data/routes.ts';
import { homeRoutes } from './pages/home/routes.ts';
import { hyperoptRoutes } from './pages/hyperopt/routes.ts';
import { newBacktestRoutes } from './pages/new-backtest/routes.ts';
import { reportRoutes } from './pages/report/routes.ts';
import { signInRoutes } from './pages/sign-in/routes.ts';
import { strategyRoutes } from './pages/strategies/routes.ts';
import { rootRoute } from './routes.ts';
import { PageError } from './ui/states.tsx';
import { quotedText } from './ui/url.ts';

/** Every page; each is loaded when it is opened. */
export const router = createRouter({
  routeTree: rootRoute.addChildren([
    ...homeRoutes,
    ...backtestRoutes,
    ...newBacktestRoutes,
    ...compareRoutes,
    ...hyperoptRoutes,
    ...reportRoutes,
    ...challengeRoutes,
    ...dataRoutes,
    ...auditRoutes,
    ...signInRoutes,
    ...strategyRoutes,
  ]),
  stringifySearch: stringifySearchWith(JSON.stringify, quotedText),
  defaultPreload: 'intent',
  // Inside the shell: the navigation stays when a page fails.
  defaultErrorComponent: PageError,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
