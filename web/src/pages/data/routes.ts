import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../routes.ts';
import { only } from '../../ui/url.ts';
import { readSearch } from './search.ts';

export const dataRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/data',
    validateSearch: only(readSearch),
    component: lazyRouteComponent(() => import('./data-page.tsx'), 'DataPage'),
  }),
] as const;
