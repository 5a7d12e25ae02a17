/**
 * Whether a simulated registry has an image. No registry is asked: references that are no references are refused as the
 * kubelet refuses them, and tags and names that stand for a mistake in tutorials and tests cannot be pulled.
 */
const REFERENCE =
  /^(?:(?=[^:/]{1,253}(?::\d+)?\/)[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?(?::\d+)?\/)?[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*(?::[\w][\w.-]{0,127})?(?:@[a-z0-9]+:[a-fA-F0-9]{32,})?$/

export interface ImageRules {
  /** Tags that no simulated registry has. */
  readonly missingTags: readonly RegExp[]
  /** Of repositories and registries. */
  readonly missingNames: readonly RegExp[]
}

export const DEFAULT_IMAGE_RULES: ImageRules = {
  missingTags: [
    /(?:^|[-_.])(?:does-?not-?exist|non-?existent|no-?such(?:-?tag)?|missing|broken|bad|bogus|invalid|wrong|nope)(?:$|[-_.])/i,
    /^404$/,
  ],
  missingNames: [
    /(?:^|[-_./])(?:does-?not-?exist|non-?existent|no-?such-?(?:image|registry|repo)|invalid)(?:$|[-_./])/i,
  ],
}

type ImageProblem =
  | { readonly reason: 'InvalidImageName'; readonly message: string }
  | { readonly reason: 'ErrImagePull'; readonly message: string }

/** Undefined: the image can be pulled. */
export function imageProblem(image: string, rules: ImageRules): ImageProblem | undefined {
  if (!REFERENCE.test(image)) {
    return {
      reason: 'InvalidImageName',
      message: `Failed to apply default image tag "${image}": couldn't parse image name "${image}": invalid reference format`,
    }
  }
  const last = image.slice(image.lastIndexOf('/') + 1)
  const name = image.slice(0, image.length - last.length) + last.replace(/[:@].*$/, '')
  const tag = /:([\w.-]+)(?:@|$)/.exec(last)?.[1]
  const isMissing =
    rules.missingNames.some((pattern) => pattern.test(name)) ||
    (tag !== undefined && rules.missingTags.some((pattern) => pattern.test(tag)))
  if (isMissing) {
    const reference = resolvedImage(image)
    return {
      reason: 'ErrImagePull',
      message: `rpc error: code = NotFound desc = failed to pull and unpack image "${reference}": failed to resolve reference "${reference}": ${reference}: not found`,
    }
  }
  return undefined
}

/** The reference a container runtime reports: registry, repository and tag spelled out. */
export function resolvedImage(image: string): string {
  const [first = '', ...rest] = image.split('/')
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost')
  const repository = hasRegistry
    ? image
    : rest.length > 0
      ? `docker.io/${image}`
      : `docker.io/library/${image}`
  const last = repository.slice(repository.lastIndexOf('/'))
  return last.includes(':') || last.includes('@') ? repository : `${repository}:latest`
}

const MOST_IMAGE_IDS = 1_000
let imageIds = new Map<string, string>()

/** What a runtime says of an image that it has, with a digest made of the name. One text for all containers of an image. */
export function imageIdOf(image: string): string {
  let id = imageIds.get(image)
  if (id === undefined) {
    if (imageIds.size >= MOST_IMAGE_IDS) imageIds = new Map()
    id = Buffer.from(
      `${resolvedImage(image).replace(/:[^:/]*$/, '')}@sha256:${imageDigest(image)}`,
    ).toString()
    imageIds.set(image, id)
  }
  return id
}

function imageDigest(image: string): string {
  let text = ''
  for (let round = 0; text.length < 64; round++) {
    let hash = 0x811c9dc5 ^ round
    for (const char of image) hash = Math.imul(hash ^ char.codePointAt(0)!, 0x01000193)
    text += (hash >>> 0).toString(16).padStart(8, '0')
  }
  return text
}
