/** From what a step costs at least to what it costs at most, and sizes alike. */
export interface CostRange {
  readonly min: number
  readonly max: number
}

/** The largest number of 64 bits: what is not known, and where sums and products end. */
export const MOST = 2 ** 64
export const UNKNOWN_SIZE: CostRange = { min: 0, max: MOST }
export const STRING_TRAVERSAL = 0.1
export const PATTERN_FACTOR = 0.25

export const exactly = (n: number): CostRange => ({ min: n, max: n })
export const sum = (...ranges: readonly CostRange[]): CostRange => ({
  min: ranges.reduce((total, { min }) => total + min, 0),
  max: Math.min(
    ranges.reduce((total, { max }) => total + max, 0),
    MOST,
  ),
})
export const product = (a: CostRange, b: CostRange): CostRange => ({
  min: Math.min(a.min * b.min, MOST),
  max: Math.min(a.max * b.max, MOST),
})
export const scaled = ({ min, max }: CostRange, factor: number): CostRange => ({
  min: Math.ceil(min * factor),
  max: Math.min(Math.ceil(max * factor), MOST),
})
export const union = (a: CostRange, b: CostRange): CostRange => ({
  min: Math.min(a.min, b.min),
  max: Math.max(a.max, b.max),
})
