"""An encoding is found by the words that it gives; where it is a guess, the other readings are named."""

import pytest

from lab.text.encoding import SAMPLE_BYTES, decode, doubts, reread
from lab.training.samples import DataError
from lab.training.table_file import utf8

TEXTS = {
    "cp1252": [
        "Größe;Preis €;Straße\nrot;groß;Müller",
        "âge;prénom;été\nHélène;Orléans;à;où",
        "Nº;año;región\nsí;España",
        "Temp °C;Fläche m²;µg/m³",
        "Ø;£;°;½",
        "ID;Preis €",
        "name;it’s;a–b\n“yes”;don’t;x",
        "l’été;d’Orléans;aujourd’hui",
        "não;São Paulo;1ª",
        "name;city\nMüller;Hélène;Nuñez;Sørensen;Århus;Conceição",
        "nafn;þyngd;hæð\nÞór;áður;Sigríður",
    ],
    "cp1250": [
        "płeć;województwo\nŁódź;mężczyzna;żółty",
        "vârstă;oraş\nTimişoara;Braşov",
        "jméno;věk;příjem\nPřemysl;nízký",
        "meno;príjem;výška\nĽuboš;kôň",
        "név;fizetés\nGyőző;kevés;több",
        "županija;plaća\nMeđimurje;čovjek",
    ],
    "iso8859_2": ["věk;příjem;výška\nŠťastný;ženatý", "płeć;województwo\nśląskie;mężczyzna"],
    "cp1254": ["yaş;şehir\nkadın;İstanbul;düşük"],
    "cp1257": ["vardas;amžius\nŽivilė;mėnuo;mokėjimų", "vārds;dzimums\nJānis;vīrietis;ķīmija"],
    "cp1251": ["возраст;пол\nмужской;Москва;да", "ВОЗРАСТ;ПОЛ\nДА;НЕТ", "цена,площадь", "вік;стать\nКиїв;чоловік"],
    "cp1253": ["ηλικία;φύλο\nάνδρας;Αθήνα;Θεσσαλονίκη"],
    "mac_roman": ["Größe;Straße;Käufer", "Fläche;Länge;Wärme"],
    "cp850": ["año;población;España"],
    "cp932": [
        "棟,等級\nA棟,秀\nB棟,優",
        "年齢,性別,購入\n34,男,はい\n23,女,いいえ",
        "名前,価格\nりんご,￥1,200\nバナナ,￥300",
        "品名,数量\n机,3",
    ],
    "cp949": ["나이,성별,지역\n34,남,서울"],
    "gb18030": ["年龄,性别,城市,是否购买\n34,男,北京,是", "温度,湿度,产量"],
    "big5": ["年齡,性別,城市\n34,男,台北"],
    "koi8_r": ["возраст;пол;город\nмужской;Москва;Санкт-Петербург"],
    "utf-8": ["Größe;年齢;возраст"],
}


@pytest.mark.parametrize(("encoding", "text"), [(one, text) for one, texts in TEXTS.items() for text in texts])
def test_an_encoding_is_found(encoding, text):
    assert decode(text.encode(encoding)) == (text, encoding)
    assert bool(doubts(text, encoding)) == (encoding != "utf-8")


def test_another_reading_that_is_as_plausible_is_named():
    text, encoding = decode("rok;čas\n2020;3\n".encode("cp1250"))
    assert (text, encoding) == ("rok;èas\n2020;3\n", "cp1252")
    assert "cp1250 for 'čas' instead of 'èas'" in doubts(text, encoding)[0]
    assert reread(text, encoding, "cp1250") == "rok;čas\n2020;3\n"
    assert doubts(reread(text, encoding, "cp1250"), "cp1250") == []  # it was chosen, so that it is no guess


@pytest.mark.parametrize("expected", ["čas", "èas", "no such text"])
def test_a_text_that_is_known_decides_between_encodings_that_are_as_plausible(expected):
    content = "rok;čas\n2020;3\n".encode("cp1250")
    assert decode(content, expected=expected)[1] == ("cp1250" if expected == "čas" else "cp1252")


def test_a_few_wrong_bytes_do_not_change_the_encoding():
    content = "Größe;Straße;Käufer;Fuß;süß\n".encode() + b"Caf\xe9\n"
    text, encoding = decode(content)
    assert (text[:5], encoding) == ("Größe", "utf-8")
    assert doubts(text, encoding) == ["characters that are not UTF-8: 1, shown as �"]


def test_what_is_looked_at_is_bounded():
    line = "Größe;Straße;Käufer\n".encode("cp1252")
    cut = line * (SAMPLE_BYTES // len(line) + 1) + "возраст;город\n".encode("cp1251") * 100_000
    assert decode(cut)[1] == "cp1252"


def test_an_unknown_encoding_is_refused():
    with pytest.raises(DataError, match="There is no encoding 'cp99999'"):
        utf8(b"a,b", "t.csv", "cp99999")
