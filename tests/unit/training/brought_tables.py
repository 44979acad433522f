"""Tables as people save them, in many spellings: seeded, small, and made without looking at the reader."""

import json

import numpy as np


def rng():
    return np.random.default_rng(7)


def de(v, d=2):
    s = f"{v:,.{d}f}"
    return s.replace(",", "X").replace(".", ",").replace("X", ".")


def wine_utf16():
    r = rng()
    out = ["Alkohol\tSäure\tZucker\tQualität"]
    for _ in range(120):
        a, s, z = (r.normal(11, 1.5), r.normal(6, 1), r.gamma(2, 2))
        q = "gut" if a > 11.5 else "mittel" if a > 10 else "schlecht"
        out.append(f"{de(a)}\t{de(s)}\t{de(z)}\t{q}")
    return (
        "\r\n".join(out).encode("utf-16"),
        {"task": "classification", "target": "Qualität", "used": ["Alkohol", "Säure", "Zucker"]},
    )


def bank_export():
    r = rng()
    out = [
        "Umsätze Girokonto 4711",
        "Zeitraum: 01.01.2023 - 31.12.2023",
        "",
        "Buchung;Verwendungszweck;Betrag;Saldo;Kategorie",
    ]
    saldo = 2000
    for i in range(150):
        k = ["Miete", "Einkauf", "Gehalt"][i % 3]
        b = {"Miete": -800, "Einkauf": -60, "Gehalt": 2500}[k] * r.uniform(0.8, 1.2)
        saldo += b
        out.append(
            f"{i % 28 + 1:02d}.{i % 12 + 1:02d}.2023;Zahlung {i} an {r.integers(1000000.0)};{de(b)} EUR;{de(saldo)} EUR;{k}"
        )
    return (
        "\r\n".join(out).encode("cp1252"),
        {"task": "classification", "target": "Kategorie", "used": ["Buchung", "Betrag", "Saldo"]},
    )


def sensor_txt():
    r = rng()
    out = ["# station 12, hourly", "#  temp   press   hum    power"]
    for _ in range(200):
        t, p, h = (r.normal(15, 6), r.normal(1013, 8), r.uniform(20, 95))
        out.append(
            f"  {t:6.2f}  {p:7.1f}  {('NaN' if r.random() < 0.05 else f'{h:5.1f}')}  {3 * t + 0.2 * h + r.normal():8.3f}"
        )
    return ("\n".join(out).encode(), {"task": "regression", "target": "power", "used": ["temp", "press", "hum"]})


def customers_jsonl():
    r = rng()
    out = []
    for i in range(150):
        m = int(r.integers(1, 60))
        f = float(r.uniform(10, 100))
        out.append(
            json.dumps(
                {
                    "customer_id": f"C{i:05d}",
                    "months": m,
                    "fee": None if i % 17 == 0 else round(f, 2),
                    "plan": ["basic", "plus", "pro"][i % 3],
                    "churn": bool(m < 15),
                }
            )
        )
    return ("\n".join(out).encode(), {"task": "classification", "target": "churn", "used": ["months", "fee", "plan"]})


def swiss_prices():
    r = rng()
    out = ["Zimmer,Fläche m²,Kanton,Preis"]
    for _ in range(150):
        z, f = (r.integers(1, 7), r.uniform(30, 200))
        v = f"{3000 * f + r.normal() * 20000.0:,.2f}".replace(",", "'")
        out.append(f"{z},{f:.0f} m²,{['ZH', 'BE', 'GE'][r.integers(3)]},CHF {v}")
    return (
        ("\ufeff" + "\n".join(out)).encode("utf-8"),
        {"task": "regression", "target": "Preis", "used": ["Zimmer", "Fläche m²", "Kanton"]},
    )


def units_percent():
    r = rng()
    out = ["weight,height,body fat,smoker,risk"]
    for _ in range(140):
        w, h, b = (r.normal(75, 12), r.normal(172, 9), r.uniform(8, 40))
        out.append(
            f"{w:.0f} kg,{h:.0f} cm,{b:.1f} %,{('Y' if r.random() < 0.3 else 'N')},{('high' if b > 28 else 'low')}"
        )
    return (
        "\n".join(out).encode(),
        {"task": "classification", "target": "risk", "used": ["weight", "height", "body fat", "smoker"]},
    )


def titanic_like():
    r = rng()
    out = ["PassengerId,Survived,Pclass,Name,Sex,Age,Ticket,Fare,Cabin,Embarked"]
    for i in range(200):
        s = "female" if r.random() < 0.4 else "male"
        age = "" if r.random() < 0.2 else f"{r.uniform(1, 70):.0f}"
        out.append(
            f"""{i + 1},{int((s == "female") ^ (r.random() < 0.2))},{r.integers(1, 4)},"Doe{i}, Mr. J{i}",{s},{age},A/{r.integers(100000.0)},{r.gamma(2, 15):.4f},{("" if r.random() < 0.8 else f"C{r.integers(150)}")},{("" if i == 50 else "SCQ"[r.integers(3)])}"""
        )
    return (
        "\n".join(out).encode(),
        {"task": "classification", "target": "Embarked", "used": ["Survived", "Pclass", "Sex", "Age", "Fare"]},
    )


def iso_stamps():
    r = rng()
    out = ["timestamp,temp,holiday,consumption_kwh"]
    for i in range(240):
        t = 10 + 8 * np.sin(i / 24 * 6.28)
        out.append(
            f"2023-01-{i // 24 + 1:02d}T{i % 24:02d}:00:00+01:00,{t:.1f},{('True' if i // 24 == 1 else 'False')},{50 - t + r.normal():.2f}"
        )
    return (
        "\n".join(out).encode(),
        {"task": "regression", "target": "consumption_kwh", "used": ["timestamp", "temp", "holiday"]},
    )


def spellings():
    r = rng()
    out = ["caps ; links ; length ; label"]
    for i in range(160):
        s = i % 2
        c, k = (r.integers(0, 30) + 30 * s, r.integers(0, 4) + 2 * s)
        out.append(
            f"{c} ; {k} ; {r.integers(10, 500)} ; {[['ham', 'Ham', 'HAM ', 'ham'], ['spam', 'Spam', ' SPAM', 'spam']][s][r.integers(4)]}"
        )
    return (
        "\n".join(out).encode(),
        {"task": "classification", "target": "label", "classes": 2, "used": ["caps", "links", "length"]},
    )


def excel_sep_total():
    r = rng()
    out = ["sep=;", "Filiale;Kunden;Werbung €;Umsatz €"]
    tot = 0
    for i in range(130):
        k, w = (r.integers(50, 500), r.uniform(0, 900))
        u = 12 * k + 2 * w + r.normal() * 50
        tot += u
        out.append(f'"Nord; {i % 5}";{k};{de(w)};{de(u)}')
    out.append(f"Summe;;;{de(tot)}")
    return (
        "\r\n".join(out).encode("cp1252"),
        {"task": "regression", "target": "Umsatz €", "used": ["Filiale", "Kunden", "Werbung €"]},
    )


def pandas_index():
    r = rng()
    out = [",age,bmi,age,group,kind"]
    for i in range(120):
        a, b = (r.integers(20, 80), r.normal(25, 4))
        out.append(f"{i},{a},{b:.6f},{a},A,{('ill' if b > 27 else 'well')}")
    return ("\n".join(out).encode(), {"task": "classification", "target": "kind", "used": ["age", "bmi"]})


def names_only():
    return (
        "\n".join(
            ["first,last,motto"] + [f"Ann{i},Lee{i},I like {i} birds and {i * 7} trees" for i in range(60)]
        ).encode(),
        {"refused": "the target 'motto' has 60 different values in 60 rows"},
    )


def half_stars():
    r = rng()
    out = ["minutes,year,budget,stars"]
    for _ in range(180):
        q = r.uniform(0.5, 5)
        out.append(
            f"{80 + q * 12 + r.normal() * 5:.0f},{r.integers(1970, 2023)},{r.gamma(2, 10000000.0):.0f},{round(q * 2) / 2:.1f}"
        )
    return ("\n".join(out).encode(), {"task": "regression", "target": "stars", "used": ["minutes", "year", "budget"]})


def padded_pipes():
    r = rng()
    out = ["| mass  | speed | hit |", "|-------|-------|-----|"]
    for _ in range(100):
        m, s = (r.uniform(1, 9), r.uniform(1, 9))
        out.append(f"| {m:5.2f} | {s:5.2f} | {('yes' if m * s > 20 else 'no ')} |")
    return ("\n".join(out).encode(), {"task": "classification", "target": "hit", "used": ["mass", "speed"]})


def word_booleans():
    r = rng()
    out = ["Fieber,Husten,Alter,Raucher,krank"]
    for _ in range(140):
        f = r.random() < 0.4
        out.append(
            f"{('ja' if f else 'nein')},{('Ja' if r.random() < 0.5 else 'Nein')},{r.integers(5, 90)},{('-' if r.random() < 0.05 else 'ja' if r.random() < 0.3 else 'nein')},{('ja' if f else 'nein')}"
        )
    return (
        "\n".join(out).encode(),
        {"task": "classification", "target": "krank", "used": ["Husten", "Alter", "Raucher"]},
    )


def no_heading():
    r = rng()
    out = []
    for i in range(150):
        k = i % 3
        out.append(
            f"{5 + k + r.normal() * 0.3:.1f},{3 - k * 0.2 + r.normal() * 0.3:.1f},{1.4 + 2 * k + r.normal() * 0.3:.1f},Iris-{['setosa', 'versicolor', 'virginica'][k]}"
        )
    return (
        "\n".join(out).encode() + b"\n\n",
        {"task": "classification", "target": "column 4", "used": ["column 1", "column 2", "column 3"]},
    )


def german_dates_durations():
    r = rng()
    out = ["Start;Dauer;Strecke km;Verbrauch"]
    for i in range(150):
        k = r.uniform(5, 300)
        out.append(
            f"{i % 28 + 1}.{i % 12 + 1}.{20 + i % 4} {r.integers(24):02d}:{r.integers(60):02d};{int(k // 60)}:{int(k % 60):02d}:{r.integers(60):02d};{de(k, 1)};{de(k * 0.07 + r.normal() * 0.3)}"
        )
    return (
        "\n".join(out).encode("utf-8"),
        {"task": "regression", "target": "Verbrauch", "used": ["Start", "Dauer", "Strecke km"]},
    )


def ragged():
    r = rng()
    out = ["a,b,c,y"]
    for i in range(120):
        a, b, c = r.normal(size=3)
        out.append(f"{a:.3f},{b:.3f},{c:.3f},{2 * a - b:.3f}" + (",stray" if i == 60 else ""))
    out[30] = out[30].rsplit(",", 1)[0]
    return ("\n".join(out).encode(), {"task": "regression", "target": "y", "used": ["a", "b", "c"]})


def json_array():
    r = rng()
    return (
        json.dumps(
            [
                {"x": float(a), "y": float(b), "colour": "red" if a * b > 0 else "blue"}
                for a, b in r.normal(size=(90, 2))
            ],
            indent=1,
        ).encode(),
        {"task": "classification", "target": "colour", "used": ["x", "y"]},
    )


def constant_target():
    r = rng()
    return (
        "\n".join(["a,b,label"] + [f"{a:.2f},{b:.2f},ok" for a, b in r.normal(size=(80, 2))]).encode(),
        {"refused": "only one class, 'ok'"},
    )


def code_and_name():
    r = rng()
    out = ["petal,sepal,species_code,species"]
    for i in range(120):
        k = i % 3
        out.append(
            f"{k * 2 + r.normal():.2f},{5 + k + r.normal():.2f},{k + 1},{['setosa', 'versicolor', 'virginica'][k]}"
        )
    return ("\n".join(out).encode(), {"task": "classification", "target": "species", "used": ["petal", "sepal"]})


def indian_thousands():
    r = rng()
    out = ["Model,Year,Km_Driven,Fuel,Price"]
    for _i in range(150):
        km = int(r.uniform(5000.0, 200000.0))
        p = int(200000.0 + r.uniform(0, 900000.0))

        def lakh(n):
            s = str(n)
            h, t = (s[:-3], s[-3:])
            parts = []
            while len(h) > 2:
                parts.insert(0, h[-2:])
                h = h[:-2]
            return ",".join(filter(None, [h, *parts, t]))

        out.append(
            f'''"Car {r.integers(30)}",{r.integers(2005, 2022)},"{lakh(km)} kms",{["Petrol", "Diesel", "CNG"][r.integers(3)]},"₹{lakh(p)}"'''
        )
    return ("\n".join(out).encode(), {"task": "regression", "target": "Price", "used": ["Year", "Km_Driven", "Fuel"]})


BROUGHT = {
    one.__name__: one
    for one in (
        wine_utf16,
        bank_export,
        sensor_txt,
        customers_jsonl,
        swiss_prices,
        units_percent,
        titanic_like,
        iso_stamps,
        spellings,
        excel_sep_total,
        pandas_index,
        names_only,
        half_stars,
        padded_pipes,
        word_booleans,
        no_heading,
        german_dates_durations,
        ragged,
        json_array,
        constant_target,
        code_and_name,
        indian_thousands,
    )
}
