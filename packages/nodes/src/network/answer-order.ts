/** In which order a name server tells the addresses of a name: by chance, so that those who ask for the first alone are spread. Pure. */
import type { RandomSource } from '@gyropilot/foundation'
import { isIpv6 } from './address-owners.ts'

/** Those of one family stay together: they are asked for by family, and the first family is the one that is used. */
export function inAnyOrder(addresses: readonly string[], random: RandomSource): readonly string[] {
  const families = Map.groupBy(addresses, isIpv6)
  return [...families.values()].flatMap((family) => shuffled(family, random))
}

function shuffled(addresses: readonly string[], random: RandomSource): readonly string[] {
  const left = [...addresses]
  const drawn: string[] = []
  while (left.length > 1) drawn.push(...left.splice(Math.floor(random.next() * left.length), 1))
  return [...drawn, ...left]
}
