import './theme.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { loadConfig } from './api/config.ts';
import { createQueryClient } from './api/queries.ts';
import { router } from './router.tsx';
import { replaceInvalidLanguage } from './ui/locale.ts';
import { ErrorState } from './ui/states.tsx';
import { restoreTheme } from './ui/tokens.ts';

replaceInvalidLanguage();
restoreTheme();
const root = createRoot(document.getElementById('root')!);

try {
  await loadConfig();
  root.render(
    <StrictMode>
      <QueryClientProvider client={createQueryClient()}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
} catch (error) {
  root.render(<ErrorState error={error as Error} onRetry={() => location.reload()} />);
}
