/**
 * What a ControllerRevision keeps: a patch that puts its pod template in the place of the owner's.
 * Contract: docs/behaviour/controllers/shared-controller-utils.md, ControllerRevision history.
 */
import { canonicalJson, defaultTemplate } from '@gyropilot/api'
import type { ControllerRevision, PodTemplateSpec } from '@gyropilot/api'
import { parseExact } from '@gyropilot/foundation/exact-json'

type RevisionData = NonNullable<ControllerRevision['data']>

export interface TemplatePatch {
  readonly data: RevisionData
  /** The bytes that upstream would store, which hashes are made of. */
  readonly text: string
}

/** Templates and revisions in caches are shared and never edited, so what was made of them stays true. */
const exactPatches = new WeakMap<PodTemplateSpec, TemplatePatch>()
const roundedPatches = new WeakMap<PodTemplateSpec, TemplatePatch>()
const texts = new WeakMap<object, string>()
const defaulted = new WeakMap<object, PodTemplateSpec>()

/** `{"spec":{"template":{"$patch":"replace",...}}}` with sorted keys. */
export function templatePatch(template: PodTemplateSpec): TemplatePatch {
  return cachedPatch(template, exactPatches, parseExact)
}

/** The same of a StatefulSet: integers beyond 2^53 lose their last digits, as they do upstream, and not those of DaemonSets. */
export function roundedTemplatePatch(template: PodTemplateSpec): TemplatePatch {
  return cachedPatch(template, roundedPatches, JSON.parse)
}

function cachedPatch(
  template: PodTemplateSpec,
  patches: WeakMap<PodTemplateSpec, TemplatePatch>,
  parse: (text: string) => unknown,
): TemplatePatch {
  let patch = patches.get(template)
  if (patch === undefined) {
    const sorted = canonicalJson({ spec: { template: { ...template, $patch: 'replace' } } })
    // Parsing leaves the keys in their order for whoever prints the object.
    const data = parse(sorted) as RevisionData
    patch = { data, text: canonicalJson(data) }
    patches.set(template, patch)
  }
  return patch
}

/** The data of a stored revision in the same form. */
export function dataText({ data }: ControllerRevision): string {
  if (data === undefined || data === null) return ''
  let text = texts.get(data)
  if (text === undefined) {
    text = canonicalJson(data)
    texts.set(data, text)
  }
  return text
}

export function sameData(left: ControllerRevision, right: ControllerRevision): boolean {
  return left.data === right.data || dataText(left) === dataText(right)
}

/** The template that a revision restores; undefined where its data is something else. */
export function templateOf({ data }: ControllerRevision): PodTemplateSpec | undefined {
  const { spec } = (data ?? {}) as { readonly spec?: { readonly template?: object } }
  if (typeof spec?.template !== 'object' || spec.template === null) return undefined
  const { $patch: _, ...template } = spec.template as { readonly $patch?: string }
  return template as PodTemplateSpec
}

/**
 * The same as the server would have it today: with the defaults that an older release did not know. Not
 * for writing.
 */
export function defaultedTemplateOf(revision: ControllerRevision): PodTemplateSpec | undefined {
  const template = templateOf(revision)
  if (template === undefined) return undefined
  const { data } = revision
  let complete = defaulted.get(data!)
  if (complete === undefined) {
    complete = structuredClone(template)
    defaultTemplate(complete)
    defaulted.set(data!, complete)
  }
  return complete
}
