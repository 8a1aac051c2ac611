import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../routes.ts';
import { only } from '../../ui/url.ts';
import { compareSearch } from './search.ts';

export const compareRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/compare',
    validateSearch: only(compareSearch),
    component: lazyRouteComponent(() => import('./compare-page.tsx'), 'ComparePage'),
  }),
] as const;
