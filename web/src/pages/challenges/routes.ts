import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../routes.ts';
import { only } from '../../ui/url.ts';
import { readChallengeSearch, readListSearch } from './search.ts';

export const challengeRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/challenges',
    validateSearch: only(readListSearch),
    component: lazyRouteComponent(() => import('./list-page.tsx'), 'ChallengesPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/challenges/$id',
    validateSearch: only(readChallengeSearch),
    component: lazyRouteComponent(() => import('./challenge-page.tsx'), 'ChallengePage'),
  }),
] as const;
