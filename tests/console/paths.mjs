// A name in a path of the API, written apart from the page's own code.
export function part(name) {
  if (/^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(name)) return name
  return '~' + Buffer.from(name, 'utf8').toString('base64url')
}
