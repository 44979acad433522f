/** The part of ECharts' interface that static/charts/charts.js uses; see ORIGIN.md. Only tsc reads this file. */

export interface Chart {
  setOption(spec: object, how: { notMerge?: boolean; replaceMerge?: string[] }): void;
  resize(): void;
  dispose(): void;
  containPixel(finder: object, place: [number, number]): boolean;
  convertFromPixel(finder: object, place: number): number;
  convertFromPixel(finder: object, place: [number, number]): [number, number];
  getZr(): {
    setSleepAfterStill(frames: number): void;
    on(event: "click", listener: (event: { offsetX: number; offsetY: number }) => void): void;
  };
}

export function init(element: HTMLElement, theme: object, options: { devicePixelRatio: number }): Chart;
