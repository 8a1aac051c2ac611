import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../routes.ts';
import { only } from '../../ui/url.ts';
import { readSearch } from './search.ts';

export const reportRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/backtests/$id',
    validateSearch: only(readSearch),
    component: lazyRouteComponent(() => import('./report-page.tsx'), 'ReportPage'),
  }),
] as const;
