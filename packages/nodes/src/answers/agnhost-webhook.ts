/**
 * `agnhost webhook` and `agnhost crd-conversion-webhook`: what they answer to reviews of the API server. Which names, labels and
 * values they look for is built into the image. Contract: docs/behaviour/simulation/kubelet.md, Webhooks of agnhost.
 */
import { agnhostCall, servesHttp } from '../commands/image-programs/agnhost-command.ts'
import { convertedReview } from './agnhost-conversion.ts'
import { PLAIN_TEXT } from './port-answers.ts'
import type { Page, Request } from './port-answers.ts'

const DELAY_MS = 5_000
const JSON_TYPE = 'application/json'

// oxlint-disable-next-line typescript/no-explicit-any -- whatever the API server sends
type Reviewed = Readonly<Record<string, any>>

interface Verdict {
  readonly allowed: boolean
  /** Of the Status that comes along. */
  readonly status?: Readonly<Record<string, string | number>>
  /** JSON patch. */
  readonly patch?: readonly object[]
  /** It never answers. */
  readonly isMute?: boolean
}

/** Undefined: the program is another, or listens at another port. `pause` rejects when whoever asked has gone. */
export async function webhookPage(
  words: readonly string[],
  request: Request,
  pause: (delayMs: number) => Promise<void>,
): Promise<Page | undefined> {
  const { subcommand, flags } = agnhostCall(words) ?? {}
  if (!servesHttp(words, request.port)) return undefined
  const [pathname = ''] = request.path.split('?')
  if (subcommand === 'crd-conversion-webhook')
    return pathname === '/crdconvert' ? conversionPage(request) : page(404, '404 page not found\n')
  if (subcommand !== 'webhook') return undefined
  if (pathname === '/readyz') return page(200, 'ok')
  const isDelayed = pathname === '/always-allow-delay-5s'
  if (!isDelayed && JUDGES[pathname] === undefined) return page(404, '404 page not found\n')
  if (request.contentType !== JSON_TYPE) return page(200, '')
  const review = reviewOf(request, 'AdmissionReview', /^admission\.k8s\.io\/v1(?:beta1)?$/)
  if ('status' in review) return review
  if (isDelayed) await pause(DELAY_MS)
  const verdict = judged(pathname, review.request, flags?.get('sidecar-image') ?? '')
  if (verdict.isMute) await pause(Infinity)
  return json({
    kind: 'AdmissionReview',
    apiVersion: review.apiVersion,
    response: responseOf(review.request['uid'], verdict),
  })
}

/** What it makes of one request that the API server has it judge. */
export function judged(pathname: string, asked: Reviewed, sidecarImage = ''): Verdict {
  const judge = JUDGES[pathname]
  return judge === undefined ? ALLOWED : judge(asked, sidecarImage)
}

type Judge = (asked: Reviewed, sidecarImage: string) => Verdict

const ALLOWED: Verdict = { allowed: true }
const MARK = 'webhook-e2e-test'

const JUDGES: Readonly<Record<string, Judge>> = {
  '/always-deny': () => denied('this webhook denies all requests'),
  '/add-label': ({ object }) => labelled(object?.metadata?.labels ?? {}),
  '/pods': (asked) => expected(asked, 'pods') ?? judgePod(asked['object']),
  '/pods/attach': judgeAttachment,
  '/mutating-pods': (asked) => expected(asked, 'pods') ?? mutatePod(asked['object']),
  '/mutating-pods-sidecar': (asked, image) =>
    image === '' ? NO_IMAGE : (expected(asked, 'pods') ?? addSidecar(asked['object'], image)),
  '/configmaps': (asked) =>
    expected(asked, 'configmaps') ??
    judgeData(asked, {
      unwanted: 'the configmap contains unwanted key and value',
      kept: 'the configmap cannot be deleted because it contains unwanted key and value',
    }),
  '/mutating-configmaps': (asked) => expected(asked, 'configmaps') ?? mutateData(asked['object']),
  '/custom-resource': (asked) =>
    judgeData(asked, {
      unwanted: 'the custom resource contains unwanted data',
      kept: 'the custom resource cannot be deleted because it contains unwanted key and value',
    }),
  '/mutating-custom-resource': ({ object }) => mutateData(object),
  '/crd': ({ object }) =>
    object?.metadata?.labels?.[MARK] === 'webhook-disallow'
      ? denied('the crd contains unwanted label')
      : ALLOWED,
}

const NO_IMAGE: Verdict = {
  allowed: false,
  status: {
    status: 'Failure',
    message: 'No image specified by the sidecar-image parameter',
    code: 500,
  },
}

function denied(message: string): Verdict {
  return { allowed: false, status: { message } }
}

function expected({ resource }: Reviewed, name: string): Verdict | undefined {
  const isMeant = resource?.group === '' && resource.version === 'v1' && resource.resource === name
  return isMeant ? undefined : denied(`expect resource to be { v1 ${name}}`)
}

function labelled(labels: Readonly<Record<string, string>>): Verdict {
  const path = '/metadata/labels/added-label'
  if (Object.keys(labels).length === 0)
    return patched({ op: 'add', path: '/metadata/labels', value: { 'added-label': 'yes' } })
  const own = labels['added-label']
  if (own === 'yes') return ALLOWED
  return patched({ op: own === undefined ? 'add' : 'replace', path, value: 'yes' })
}

function judgePod({ metadata, spec }: Reviewed): Verdict {
  const mark = metadata?.labels?.[MARK]
  if (mark === 'wait-forever') return { allowed: false, isMute: true }
  const containers: readonly { readonly name: string }[] = spec?.containers ?? []
  const unwanted = [
    ...(mark === 'webhook-disallow' ? ['the pod contains unwanted label;'] : []),
    ...containers
      .filter(({ name }) => name.includes('webhook-disallow'))
      .map(() => 'the pod contains unwanted container name;'),
  ]
  return unwanted.length === 0 ? ALLOWED : denied(unwanted.join(' '))
}

const ATTACHED_POD = 'to-be-attached-pod'

function judgeAttachment(asked: Reviewed): Verdict {
  const { name, subResource = '', object } = asked
  if (name !== ATTACHED_POD) return ALLOWED
  const problem = expected(asked, 'pods')
  if (problem !== undefined) return problem
  if (subResource !== 'attach')
    return denied(`expect subresource to be attach, got ${subResource as string}`)
  if (object?.stdin !== true || object.container !== 'container1') return ALLOWED
  return denied(`attaching to pod '${ATTACHED_POD}' is not allowed`)
}

function mutatePod({ metadata, spec }: Reviewed): Verdict {
  const name = 'webhook-added-init-container'
  if (metadata?.name !== 'webhook-to-be-mutated' || has(spec?.initContainers, name)) return ALLOWED
  const value = [{ image: 'webhook-added-image', name, resources: {} }]
  return patched({ op: 'add', path: '/spec/initContainers', value })
}

function addSidecar({ spec }: Reviewed, image: string): Verdict {
  const name = 'webhook-added-sidecar'
  if (has(spec?.containers, name)) return ALLOWED
  return patched({ op: 'add', path: '/spec/containers/-', value: { image, name, resources: {} } })
}

function has(containers: readonly { readonly name: string }[] = [], name: string): boolean {
  return containers.some((each) => each.name === name)
}

function judgeData(
  { operation, object, oldObject }: Reviewed,
  reasons: { readonly unwanted: string; readonly kept: string },
): Verdict {
  const mark = (operation === 'DELETE' ? oldObject : object)?.data?.[MARK]
  if (mark === 'webhook-disallow' && /^(?:CREATE|UPDATE)$/.test(operation))
    return { allowed: false, status: { reason: reasons.unwanted } }
  if (mark === 'webhook-nondeletable' && operation === 'DELETE')
    return { allowed: false, status: { reason: reasons.kept } }
  return ALLOWED
}

/** One webhook after another, each goes on where the one before it stopped. */
function mutateData({ data = {} }: Reviewed): Verdict {
  const stage = data['mutation-stage-1'] === 'yes' ? 2 : data['mutation-start'] === 'yes' ? 1 : 0
  if (stage === 0) return ALLOWED
  return patched({ op: 'add', path: `/data/mutation-stage-${stage}`, value: 'yes' })
}

function patched(operation: object): Verdict {
  return { allowed: true, patch: [operation] }
}

function responseOf(uid: unknown, { allowed, status, patch }: Verdict): object {
  return {
    uid,
    allowed,
    ...(status && { status: { metadata: {}, ...status } }),
    ...(patch && {
      patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
      patchType: 'JSONPatch',
    }),
  }
}

interface Review {
  readonly apiVersion: string
  readonly request: Reviewed
}

/** Or the page that says why it is none. */
function reviewOf({ body = '' }: Request, kind: string, apiVersions: RegExp): Review | Page {
  try {
    const review = JSON.parse(body) as Reviewed
    if (review['kind'] === kind && apiVersions.test(review['apiVersion']) && review['request'])
      return { apiVersion: review['apiVersion'], request: review['request'] }
    return page(
      400,
      `Unsupported group version kind: ${review['apiVersion']}, Kind=${review['kind']}\n`,
    )
  } catch (error) {
    return page(400, `Request could not be decoded: ${(error as Error).message}\n`)
  }
}

function conversionPage(request: Request): Page {
  const review = reviewOf(request, 'ConversionReview', /^apiextensions\.k8s\.io\/v1(?:beta1)?$/)
  if ('status' in review) return review
  const { uid, desiredAPIVersion, objects = [] } = review.request
  return json({
    kind: 'ConversionReview',
    apiVersion: review.apiVersion,
    request: { uid: '', desiredAPIVersion: '', objects: null },
    response: { uid, ...convertedReview(objects, desiredAPIVersion) },
  })
}

function page(status: number, text: string): Page {
  return { status, type: PLAIN_TEXT, body: Buffer.from(text) }
}

function json(value: object): Page {
  return { status: 200, type: JSON_TYPE, body: Buffer.from(JSON.stringify(value)) }
}
