import * as z from 'zod';

export const Timestamp = z.string().meta({
  format: 'date-time',
  description: 'ISO 8601, UTC',
});
