/** What calls cost while they run. Functions that look at every character or element cost by their number. */
import {
  PATTERN_FACTOR,
  STRING_TRAVERSAL,
  UNKNOWN_SIZE,
  exactly,
  product,
  scaled,
  sum,
} from './cost-range.ts'
import type { Costs, EstimatedArgument } from '../checking/signature.ts'
import { isScalar } from '../checking/types.ts'
import { CelList, CelMap, CelOptional, CostExceeded, Opaque } from '../values/values.ts'
import { textLength } from '../values/measures.ts'
import type { Value } from '../values/values.ts'

/** Counts what an expression costs, and stops it at a limit. */
export class CostMeter {
  readonly #limit: number
  #spent = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get spent(): number {
    return this.#spent
  }

  /** Throws CostExceeded. */
  charge(cost: number): void {
    this.#spent += cost
    if (this.#spent > this.#limit) throw new CostExceeded()
  }
}

/** Length of texts, bytes, lists and maps; anything else is one. */
export function actualSize(value: Value): number {
  if (typeof value === 'string') return textLength(value)
  if (value instanceof CelList || value instanceof Uint8Array) return value.length
  if (value instanceof CelMap) return value.size
  if (value instanceof CelOptional) return value.value === undefined ? 0 : actualSize(value.value)
  return value instanceof Opaque ? value.costSize : 1
}

export const traversal = (value: Value, factor = STRING_TRAVERSAL): number =>
  Math.ceil(actualSize(value) * factor)

/** All there is to see in a value, however deep. */
function traversalOfAll(value: Value): number {
  if (typeof value === 'string' || value instanceof Uint8Array)
    return Math.floor(value.length * STRING_TRAVERSAL)
  let cost = 0
  if (value instanceof CelList) {
    for (const item of value) cost += traversalOfAll(item)
    return cost
  }
  if (value instanceof CelMap) {
    for (const key of value.keys()) cost += traversalOfAll(key) + traversalOfAll(value.get(key)!)
    return cost
  }
  return 1
}

/** One pass over the text of one argument. */
export function onePass(index = 0, factor = STRING_TRAVERSAL): Costs {
  return {
    cost: (args) => traversal(args[index]!, factor),
    estimate: (args) => ({ cost: scaled(args[index]!.size, factor) }),
  }
}

/** One pass over a text, giving a text that is not longer. */
export const SHORTER_TEXT: Costs = {
  cost: (args) => traversal(args[0]!),
  estimate: ([text]) => ({ cost: scaled(text!.size, STRING_TRAVERSAL), size: text!.size }),
}

/** Every character against every part of a pattern. */
export const PATTERN_MATCH: Costs = {
  cost: (args) =>
    Math.ceil((1 + actualSize(args[0]!)) * STRING_TRAVERSAL) * traversal(args[1]!, PATTERN_FACTOR),
  estimate: ([text, pattern]) => ({
    cost: product(
      scaled(sum(text!.size, exactly(1)), STRING_TRAVERSAL),
      scaled(pattern!.size, PATTERN_FACTOR),
    ),
    size: { min: 0, max: text!.size.max },
  }),
}

/** One look at each element of a list, and through the text of each. */
export const EACH_ELEMENT: Costs = {
  cost: (args) => traversalOfAll(args[0]!),
  estimate: ([list]) => {
    const { element, size } = list!
    if (element === undefined) return { cost: scaled(size, STRING_TRAVERSAL) }
    const isText = element.type.kind === 'string' || element.type.kind === 'bytes'
    const each = isText ? sum(exactly(1), scaled(element.size, STRING_TRAVERSAL)) : exactly(1)
    return { cost: product(size, each) }
  },
}

/** Every element of one list against every element of the other. */
export const EACH_WITH_EACH: Costs = {
  cost: (args) => actualSize(args[0]!) * actualSize(args[1]!) + 1,
  estimate: ([a, b]) => ({ cost: sum(product(a!.size, b!.size), exactly(1)) }),
}

/** Order and inequality: up to the end of the shorter one. */
export const COMPARISON: Costs = {
  cost: (args) =>
    Math.ceil(Math.min(actualSize(args[0]!), actualSize(args[1]!)) * STRING_TRAVERSAL),
  estimate: ([a, b]) => {
    const max = Math.min(boundOf(a!), boundOf(b!))
    return { cost: scaled({ min: max > 0 ? 1 : 0, max }, STRING_TRAVERSAL) }
  },
}

/** How much there is to compare; of optional texts, lists and maps nothing is known. */
function boundOf({ type, size }: EstimatedArgument): number {
  const isOptional = type.kind === 'opaque' && type.name === 'optional_type'
  return isOptional && !isScalar(type) ? UNKNOWN_SIZE.max : size.max
}

/** Of values of libraries only equality is estimated by what they are. */
export const EQUALITY: Costs = {
  ...COMPARISON,
  estimate: (args) => {
    const { type } = args[0]!
    const known = type.kind === 'opaque' ? OPAQUE_EQUALITY[type.name] : undefined
    return known === undefined ? COMPARISON.estimate!(args) : { cost: exactly(known) }
  },
}

/** Values of libraries are equal in one step, but for URLs; formats by their names of up to 64 characters. */
const OPAQUE_EQUALITY: Readonly<Record<string, number>> = {
  'kubernetes.Quantity': 1,
  'kubernetes.Semver': 1,
  'net.IP': 1,
  'net.CIDR': 1,
  'kubernetes.NamedFormat': 7,
}

/** Two texts copied into one. */
export const CONCATENATION: Costs = {
  cost: (args) => Math.ceil((actualSize(args[0]!) + actualSize(args[1]!)) * STRING_TRAVERSAL),
  estimate: ([a, b]) => {
    const size = sum(a!.size, b!.size)
    return { cost: scaled(size, STRING_TRAVERSAL), size }
  },
}
