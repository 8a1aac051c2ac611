import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../routes.ts';
import { readChallengeSearch, readListSearch } from './search.ts';

export const challengeRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/challenges',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./list-page.tsx'), 'ChallengesPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/challenges/$id',
    validateSearch: readChallengeSearch,
    component: lazyRouteComponent(() => import('./challenge-page.tsx'), 'ChallengePage'),
  }),
] as const;
