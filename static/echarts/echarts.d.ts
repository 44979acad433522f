/** The part of ECharts' interface that static/charts/charts.js uses; see ORIGIN.md. Only tsc reads this file. */

export interface Chart {
  setOption(spec: object, how: { notMerge: boolean }): void;
  resize(): void;
  dispose(): void;
  getZr(): { setSleepAfterStill(frames: number): void };
}

export function init(element: HTMLElement, theme: object): Chart;
