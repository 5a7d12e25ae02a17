/** Worlds of a few objects, for tests of what must hold at the end. */
import { groupResourceOf } from '@gyropilot/api'
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import type { Objects } from '../simulated/objects.ts'
import { endStateRules } from './end-state.ts'

/** What there is, by resource. */
export type World = readonly (readonly [ResourceType, readonly object[]])[]

export function problems(rule: string, world: World): readonly string[] {
  const of = (type: ResourceType): readonly object[] =>
    world.find(([known]) => groupResourceOf(known) === groupResourceOf(type))?.[1] ?? []
  const everything = world.flatMap(([type, objects]) =>
    objects.map((object) => ({ collection: groupResourceOf(type), object })),
  )
  const find = (type: ResourceType, namespace: string | undefined, name: string) =>
    (of(type) as readonly KubernetesObject[]).find(
      (found) => found.metadata?.namespace === namespace && found.metadata?.name === name,
    )
  const objects = { all: of, find, everything: () => everything } as unknown as Objects
  return [...endStateRules[rule]!(objects)]
}
