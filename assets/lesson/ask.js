// Questions to the server. An error is thrown as the sentence that says what is wrong.
const address = (path) => new URL(`explorer/${path}`, document.baseURI);

async function answered(response) {
  const text = await response.text();
  let data = null;
  try { data = JSON.parse(text); } catch { /* no answer of ours: a proxy's, or the class's door */ }
  if (response.ok && data !== null) return data;
  const error = new Error(data?.error || data?.detail || `The server did not answer (${response.status}). Try again.`);
  error.status = response.status;
  throw error;
}

async function fetched(path, options) {
  try { return await fetch(address(path), options); } catch { throw new Error("The server cannot be reached. Is this device still in its network?"); }
}

export const get = async (path, headers = {}) => answered(await fetched(path, { headers }));

export async function post(path, data, headers = {}) {
  const body = JSON.stringify(data);
  return answered(await fetched(path, { method: "POST", body, headers: { "content-type": "application/json", ...headers } }));
}

export async function text(path, options) {
  const response = await fetched(path, options);
  if (!response.ok) await answered(response);
  return response.text();
}

export function element(name, options = {}, ...inside) {
  const { data, ...rest } = options;
  const made = Object.assign(document.createElement(name), rest);
  Object.assign(made.dataset, data);
  made.append(...inside.filter((one) => one !== null && one !== undefined));
  return made;
}

export const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
