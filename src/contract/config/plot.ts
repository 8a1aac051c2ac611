import * as z from 'zod';

/** How a chart draws a column. The engine checks colors and names (plot-problems.ts). */
const PlotColumn = z
  .object({
    color: z
      .string()
      .max(64)
      .exactOptional()
      .meta({ description: 'Name, `#hex` or `rgba()`; absent: chosen by the chart' }),
    fillTo: z.string().max(64).exactOptional().meta({ description: 'Column up to which the area is filled' }),
    type: z.enum(['line', 'bar', 'scatter']).exactOptional().meta({ description: 'Absent: `line`' }),
  })
  .meta({ id: 'PlotColumn' });

/** How the columns of a strategy are drawn. */
export const Plot = z
  .object({
    main: z
      .record(z.string().max(64), PlotColumn)
      .exactOptional()
      .meta({ description: 'Columns over the candles' }),
    panels: z
      .record(
        z.string().max(64),
        z.record(z.string().max(64), z.union([PlotColumn, z.array(z.number()).max(20)])),
      )
      .exactOptional()
      .meta({
        description: 'Panels below them by name, each with its columns; `levels` are horizontal lines',
      }),
  })
  .meta({ id: 'Plot', description: 'How a chart draws the columns of the strategy' });
