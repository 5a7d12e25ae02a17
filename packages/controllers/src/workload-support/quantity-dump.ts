/**
 * Quantities in the print of a pod template: as Kubernetes' parser takes a stored text apart.
 * Which texts it keeps beside the number, and which amounts it cannot hold as a small integer,
 * shows in the print and so in template hashes.
 */
import { parseQuantity, quantityForm, storedQuantity } from '@gyropilot/api'
import type { Quantity, QuantityForm } from '@gyropilot/api'

const WORD_BITS = 64n

/**
 * Any spelling of an amount prints like the one that the server would store. Text that is no
 * quantity prints as it is.
 */
export function dumpQuantity(quantity: Quantity): string {
  let form: QuantityForm
  try {
    form = quantityForm(storedQuantity(quantity))
  } catch {
    return String(quantity)
  }
  return form.small ? dumpSmall(form) : dumpLarge(form)
}

/** Equal amounts print alike, whatever their suffixes. */
export function dumpAmount(quantity: Quantity): string {
  try {
    return `${parseQuantity(quantity).nanos}n`
  } catch {
    return String(quantity)
  }
}

function dumpSmall({ value, scale, text, format }: QuantityForm): string {
  const amount = `(resource.int64Amount){value:(int64)${value} scale:(resource.Scale)${scale}}`
  return `{i:${amount} d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string)${text} Format:(resource.Format)${format}}`
}

function dumpLarge({ value, scale, format }: QuantityForm): string {
  const words: bigint[] = []
  for (let rest = value < 0n ? -value : value; rest > 0n; rest >>= WORD_BITS)
    words.push(BigInt.asUintN(64, rest))
  const unscaled = `(big.Int){neg:(bool)${value < 0n} abs:(big.nat)[${words.join(' ')}]}`
  const decimal = `(*inf.Dec){unscaled:${unscaled} scale:(inf.Scale)${-scale}}`
  return `{i:(resource.int64Amount){value:(int64)0 scale:(resource.Scale)0} d:(resource.infDecAmount){Dec:${decimal}} s:(string) Format:(resource.Format)${format}}`
}
